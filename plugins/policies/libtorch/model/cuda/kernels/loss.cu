// The loss of tokens (losses/token_loss.hpp) and its derivatives. One block: there are few tokens,
// and their metrics are summed in a fixed order.

using namespace krl::policies;  // losses

constexpr int kLossNumbers = sizeof(LossMetrics) / sizeof(double);

// The metrics of the lane whose number differs in the bits of `offset`.
__device__ inline LossMetrics from_lane(const LossMetrics& metrics, int offset) {
  double numbers[kLossNumbers];
  memcpy(numbers, &metrics, sizeof metrics);
  for (double& number : numbers) number = __shfl_xor_sync(kAllLanes, number, offset);
  LossMetrics other;
  memcpy(&other, numbers, sizeof other);
  return other;
}

// Computes the loss of `count` tokens from `first` on; the arrays of predictions and their
// derivatives begin with that token, by_values (null without a critic) with the first of all. Adds
// to `metrics`.
extern "C" __global__ void __launch_bounds__(kLossThreads)
    token_losses(TokenLossOptions options, TokenArrays in, long long first, int count,
                 const float* logprobs, const float* entropies, float* by_logprobs,
                 float* by_entropies, float* by_values, LossMetrics* metrics) {
  LossMetrics sums;
  for (int i = threadIdx.x; i < count; i += kLossThreads) {
    const long long at = first + i;
    TokenState token;
    token.now = logprobs[i];
    token.entropy = entropies[i];
    token.sampled = in.sampled[at];
    token.is_sampled = token.sampled == token.sampled;  // not NaN
    token.start = in.start != nullptr ? in.start[at] : logprobs[i];
    if (in.reference != nullptr) token.reference = in.reference[at];
    token.advantage = in.advantages[at];
    if (in.sequence_log_ratios != nullptr) token.sequence_log_ratio = in.sequence_log_ratios[at];
    if (in.values != nullptr && in.returns != nullptr) {
      token.value = in.values[at];
      token.old_value = in.old_values[at];
      token.target = in.returns[at];
      token.has_return = token.target == token.target;  // not NaN
    }
    token.factor = in.factors[at];
    token.share = in.shares[at];
    const TokenDerivatives by = token_loss(options, token, sums);
    by_logprobs[i] = static_cast<float>(by.by_logprob);
    by_entropies[i] = static_cast<float>(by.by_entropy);
    if (by_values != nullptr) by_values[at] = static_cast<float>(by.by_value);
  }
  for (int offset = 16; offset > 0; offset /= 2) sums.add(from_lane(sums, offset));
  constexpr int kWarps = kLossThreads / 32;
  __shared__ double warps[kWarps][kLossNumbers];  // a LossMetrics each
  if (threadIdx.x % 32 == 0) memcpy(warps[threadIdx.x / 32], &sums, sizeof sums);
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (int warp = 0; warp < kWarps; ++warp) {
    memcpy(&sums, warps[warp], sizeof sums);
    metrics->add(sums);
  }
}
