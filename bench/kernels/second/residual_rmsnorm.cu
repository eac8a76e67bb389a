// A block of eight warps a row, which keeps the sums in shared memory: few registers, and rows of
// any length up to the largest.
// @launch residual_rmsnorm<<<rows, 256, 4 * cols>>>(x, res, gamma, y, cols)
constexpr int kThreads = 256, kWarps = kThreads / 32;

__global__ void __launch_bounds__(kThreads)
    residual_rmsnorm(const float* __restrict__ x, float* __restrict__ res,
                     const float* __restrict__ gamma, float* __restrict__ y, int cols) {
  extern __shared__ float sums[];
  __shared__ float warps[kWarps];
  size_t first = static_cast<size_t>(blockIdx.x) * cols;
  float squares = 0.0f;
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += kThreads) {
    float v = x[first + j] + res[first + j];
    res[first + j] = v;
    sums[j] = v;
    squares = fmaf(v, v, squares);
  }
  for (int step = 16; step > 0; step /= 2) squares += __shfl_xor_sync(~0u, squares, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = squares;
  __syncthreads();
  float total = 0.0f;
#pragma unroll
  for (int w = 0; w < kWarps; w++) total += warps[w];
  float factor = rsqrtf(total / cols + 1e-5f);
#pragma unroll 4
  for (int j = threadIdx.x; j < cols; j += kThreads) y[first + j] = sums[j] * factor * gamma[j];
}
