// Turns texts into vectors of equal size by a BERT encoder; similar texts have vectors with a large
// inner product. Owns the weights, 4 bytes each. Computes in float32. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/retrieval/encoder/sentence_model.hpp"
#include "plugins/retrieval/encoder/text_role.hpp"

namespace krl::retrieval {

struct EncoderOptions {
  std::string device = "cpu";  // or "cuda", "cuda:1", …
  int threads = 1;             // threads of a call, for batches of texts; a single text takes one
};

class TextEncoder {
 public:
  // Called by the calling thread with the number of texts done so far; may throw to stop.
  using Progress = std::function<void(std::size_t done)>;

  // Copies the weights to the device. Throws krl::Failure: KRL_INVALID_ARGUMENT with the file and
  // the tensor that is missing or has another shape, and for an unknown device;
  // KRL_FAILED_PRECONDITION if there is no such GPU.
  TextEncoder(const SentenceModel& model, const EncoderOptions& options);
  ~TextEncoder();
  TextEncoder(TextEncoder&&) noexcept;
  TextEncoder& operator=(TextEncoder&&) noexcept;

  std::int64_t dimension() const;
  // SentenceModel's.
  const std::string& fingerprint() const;

  // Returns the vectors of the texts one after the other: texts.size() × dimension(). The same text
  // has the same vector in any batch, within rounding. Texts may be of any bytes and any length;
  // tokens beyond the model's limit are cut off.
  std::vector<float> encode(std::span<const std::string_view> texts, TextRole role,
                            const Progress& progress = {}) const;
  std::vector<float> encode(std::string_view text, TextRole role) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace krl::retrieval
