// Rows of logits: the log-probability of a target, the entropy, and the way back. One block a row.

constexpr int kVocabulary = VOCABULARY;
constexpr int kLogitVector = LOGIT_VECTOR;  // elements of an access; divides the vocabulary

// Over the logits z of a row: the largest, Σ e^(z - max) and Σ z · e^(z - max), kept together while
// they are read (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018).
struct SoftmaxSums {
  float max = kLowest, sum = 0, weighted = 0;

  __device__ void add(const SoftmaxSums& other) {
    const float new_max = fmaxf(max, other.max);
    const float mine = exponential(max - new_max), theirs = exponential(other.max - new_max);
    sum = sum * mine + other.sum * theirs;
    weighted = weighted * mine + other.weighted * theirs;
    max = new_max;
  }
};

// All of the block's, in a fixed order; valid in every thread.
__device__ inline SoftmaxSums block_total(SoftmaxSums sums) {
  constexpr int kWarps = kSoftmaxThreads / 32;
  __shared__ float max[kWarps], sum[kWarps], weighted[kWarps];
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    SoftmaxSums other;
    other.max = __shfl_xor_sync(kAllLanes, sums.max, offset);
    other.sum = __shfl_xor_sync(kAllLanes, sums.sum, offset);
    other.weighted = __shfl_xor_sync(kAllLanes, sums.weighted, offset);
    sums.add(other);
  }
  const int warp = threadIdx.x / 32;
  if (threadIdx.x % 32 == 0) {
    max[warp] = sums.max;
    sum[warp] = sums.sum;
    weighted[warp] = sums.weighted;
  }
  __syncthreads();
  SoftmaxSums total;
#pragma unroll
  for (int w = 0; w < kWarps; ++w) {
    SoftmaxSums other;
    other.max = max[w];
    other.sum = sum[w];
    other.weighted = weighted[w];
    total.add(other);
  }
  return total;
}

// Computes, for logits [rows, vocabulary] times `inverse_temperature`, the log-probability of the
// target, the entropy and log Σ e^z of each row.
extern "C" __global__ void __launch_bounds__(kSoftmaxThreads)
    softmax_sums(const Element* logits, const long long* targets, float inverse_temperature,
                 float* logprobs, float* entropies, float* normalisers) {
  const long long row = blockIdx.x;
  const Element* from = logits + row * kVocabulary;
  SoftmaxSums sums;
  for (int at = threadIdx.x * kLogitVector; at < kVocabulary;
       at += kSoftmaxThreads * kLogitVector) {
    float z[kLogitVector];
    load(from + at, z);
    float max = kLowest;
#pragma unroll
    for (int i = 0; i < kLogitVector; ++i) {
      z[i] *= inverse_temperature;
      max = fmaxf(max, z[i]);
    }
    if (max > sums.max) {
      const float shrink = exponential(sums.max - max);
      sums.sum *= shrink;
      sums.weighted *= shrink;
      sums.max = max;
    }
#pragma unroll
    for (int i = 0; i < kLogitVector; ++i) {
      const float weight = exponential(z[i] - sums.max);
      sums.sum += weight;
      sums.weighted += weight * z[i];
    }
  }
  sums = block_total(sums);
  if (threadIdx.x != 0) return;
  const float normaliser = sums.max + logf(sums.sum);
  normalisers[row] = normaliser;
  entropies[row] = normaliser - sums.weighted / sums.sum;
  logprobs[row] = to_float(from[targets[row]]) * inverse_temperature - normaliser;
}

// Logits → their gradient, in place: with the gradients g of the log-probability and e of the
// entropy H (null: none), (g · (1[j = target] - p_j) - e · p_j · (ln p_j + H)) / temperature.
extern "C" __global__ void __launch_bounds__(kSoftmaxThreads)
    softmax_backward(Element* logits, const long long* targets, float inverse_temperature,
                     const float* normalisers, const float* entropies, const float* by_logprobs,
                     const float* by_entropies) {
  const long long row = blockIdx.x;
  Element* to = logits + row * kVocabulary;
  const float normaliser = normalisers[row], by_logprob = by_logprobs[row];
  const float by_entropy = by_entropies != nullptr ? by_entropies[row] : 0;
  const float entropy = entropies[row];
  const int target = static_cast<int>(targets[row]);
  for (int at = threadIdx.x * kLogitVector; at < kVocabulary;
       at += kSoftmaxThreads * kLogitVector) {
    float z[kLogitVector];
    load(to + at, z);
#pragma unroll
    for (int i = 0; i < kLogitVector; ++i) {
      const float log_p = z[i] * inverse_temperature - normaliser;
      const float p = exponential(log_p);
      z[i] = -p * (by_logprob + by_entropy * (log_p + entropy));
      if (at + i == target) z[i] += by_logprob;
      z[i] *= inverse_temperature;
    }
    store(z, to + at);
  }
}
