// Draws a token from logits. Not thread-safe: one per thread, it keeps its working memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace krl::libtorch {

struct SamplingOptions {
  double temperature = 1.0;  // 0 = the most likely token
  double top_p = 1.0;        // 1 = off
  std::int64_t top_k = 0;    // below 1 = off
};

struct Draw {
  std::int32_t token;
  // Under softmax(logits / temperature), before top_k and top_p, which is what training computes;
  // at temperature 0 under softmax(logits).
  float logprob;
};

class TokenSampler {
 public:
  // Draws the token at which the sum of probabilities, in the order of ids, reaches `uniform`, in
  // (0, 1). Before, only the `top_k` likeliest tokens stay, then of these the likeliest whose
  // probabilities reach top_p together; among equal ones the smaller id goes first. The remaining
  // tokens keep the order of ids, so that a draw needs no sorting on a GPU
  // (cuda/kernels/sampling.cu).
  Draw draw(std::span<const float> logits, const SamplingOptions& options, double uniform);

 private:
  std::int32_t draw_from_all(double target) const;
  // Sets the probabilities of all others to 0. `total` is the sum of all; returns that of the rest.
  double keep_likeliest(const SamplingOptions& options, double total);

  std::vector<float> probabilities_;  // not normalised
  std::vector<std::int32_t> order_;
};

}  // namespace krl::libtorch
