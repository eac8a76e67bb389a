// Shared by the kernels of generation, after cuda/kernels/numbers.cu: the model's shape, as macros
// (kernel_source.cpp), and sums over a block.

using namespace krl::libtorch;

constexpr int kHidden = HIDDEN;
constexpr int kHeads = HEADS;
constexpr int kKvHeads = KV_HEADS;
constexpr int kGroup = kHeads / kKvHeads;  // queries that share keys and values
constexpr int kHeadSize = HEAD_SIZE;
constexpr int kHalf = kHeadSize / 2;
constexpr int kQkvWidth = (kHeads + 2 * kKvHeads) * kHeadSize;
constexpr int kFfn = FFN;
constexpr int kVocabulary = VOCABULARY;
constexpr bool kQkvBias = QKV_BIAS;
constexpr bool kQkNorm = QK_NORM;

// The sum over a block of kThreads, the same for all of them and in the same order always.
template <int kThreads>
__device__ inline float block_sum(float x) {
  __shared__ float warps[kThreads / 32];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int warp = 0; warp < kThreads / 32; ++warp) total += warps[warp];
  return total;
}
