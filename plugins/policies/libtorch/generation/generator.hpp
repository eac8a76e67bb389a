// Answers many prompts at once: a queue of samples, and on every worker thread a batch of slots in
// which samples grow by a token a step; a slot that finishes takes the next sample.
//
// Prompts that are the same are computed once and their keys and values shared. Which worker and
// which batch a sample falls into is a matter of timing, but not its result (kernels.hpp).
// One call at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/worker_threads.hpp"
#include "generation/decoder.hpp"
#include "generation/token_sampler.hpp"
#include "tokenizer/byte_pair_encoding.hpp"

namespace krl::libtorch {

struct GenerationRequest {
  std::vector<TokenId> prompt;
  std::uint32_t samples = 1;
  std::int64_t max_tokens = 0;
  SamplingOptions options;
  std::vector<std::string> stop;  // texts that end an answer
  std::uint64_t seed = 0;         // sample k draws its token t with uniform(seed, k, t)
};

struct GeneratedSample {
  std::size_t request = 0;
  std::uint32_t index = 0;
  std::uint32_t stop_reason = 0;  // KRL_STOP_*
  std::string text;               // valid UTF-8, without the end token and from a stop text on
  std::vector<TokenId> tokens;    // as drawn
  std::vector<float> logprobs;
};

// Throws krl::Failure (KRL_INVALID_ARGUMENT) that names request number `index` and what is wrong
// with it: options out of range, or a prompt that leaves no room in the context.
void check_request(const GenerationRequest& request, std::size_t index, std::int64_t context);

class Generator {
 public:
  using Deliver = std::function<void(const GeneratedSample&)>;
  using Poll = std::function<void()>;

  Generator(const DecoderWeights& weights, const BytePairEncoding& encoding,
            WorkerThreads& threads);
  ~Generator();

  // Calls `deliver` on the calling thread with each sample as it is finished, and `poll` every few
  // milliseconds; what either throws ends the generation and is passed on. Throws krl::Failure
  // (KRL_INTERNAL) if the model's logits are not finite. REQUIRES: checked requests.
  void run(std::span<const GenerationRequest> requests, const Deliver& deliver, const Poll& poll);

 private:
  class Worker;
  const DecoderWeights& weights_;
  const BytePairEncoding& encoding_;
  WorkerThreads& threads_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace krl::libtorch
