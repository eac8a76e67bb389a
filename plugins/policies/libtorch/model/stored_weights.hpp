// A model's weights in storage, in pieces, each in its stored type: files are read, and numbers
// converted, only on the way to the device. Torch-free.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

namespace krl::libtorch {

enum class StoredType { kFloat32, kBFloat16, kFloat16 };

struct StoredPiece {
  std::int64_t offset, size;  // range in the flat parameters, in elements
  StoredType type;
  std::string_view bytes;  // may have any alignment
};

// Copies share the bytes they refer to.
class StoredWeights {
 public:
  StoredWeights() = default;
  // All of a model's, which outlive this.
  StoredWeights(std::span<const float> weights);    // NOLINT(google-explicit-constructor)
  StoredWeights(const std::vector<float>& weights)  // NOLINT(google-explicit-constructor)
      : StoredWeights(std::span(weights)) {}
  // Pieces that cover every parameter once; `owner` keeps their bytes.
  StoredWeights(std::vector<StoredPiece> pieces, std::shared_ptr<const void> owner)
      : pieces_(std::move(pieces)), owner_(std::move(owner)) {}

  const std::vector<StoredPiece>& pieces() const { return pieces_; }

  // All of them, in the order of ParameterLayout.
  std::vector<float> floats() const;

 private:
  std::vector<StoredPiece> pieces_;
  std::shared_ptr<const void> owner_;
};

}  // namespace krl::libtorch
