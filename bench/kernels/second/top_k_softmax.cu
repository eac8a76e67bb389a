// A block a row in registers, 16 elements a thread, as integers of the same order. The eighth is
// found bit by bit: the largest threshold that at least eight elements reach. Neither sorting nor
// the number of elements matters.
// @launch top_k_softmax<<<rows, 32 * ceil_div(cols, 512)>>>(x, y, cols)
constexpr int kEach = 16, kTop = 8;

__device__ unsigned ordered(float value) {
  unsigned bits = __float_as_uint(value + 0.0f);  // -0 becomes 0
  return bits >> 31 ? ~bits : bits | 1u << 31;
}
__device__ float number(unsigned bits) {
  return __uint_as_float(bits >> 31 ? bits & ~(1u << 31) : ~bits);
}

__global__ void __launch_bounds__(512)
    top_k_softmax(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ int counts[2][16];
  __shared__ unsigned tops[16];
  __shared__ float sums[16];
  size_t first = static_cast<size_t>(blockIdx.x) * cols;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  bool has_warp = lane < blockDim.x / 32;
  unsigned v[kEach], top = 0;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int j = k * blockDim.x + threadIdx.x;
    v[k] = j < cols ? ordered(x[first + j]) : 0;
    top = max(top, v[k]);
  }
  top = __reduce_max_sync(~0u, top);
  if (lane == 0) tops[warp] = top;
  __syncthreads();
  top = __reduce_max_sync(~0u, has_warp ? tops[lane] : 0u);

  unsigned least = 0;
#pragma unroll 2
  for (int bit = 31; bit >= 0; bit--) {
    unsigned tried = least | 1u << bit;
    int count = 0;
    if (tried <= top) {
#pragma unroll
      for (int k = 0; k < kEach; k++) count += v[k] >= tried;
    }
    count = __reduce_add_sync(~0u, count);
    if (lane == 0) counts[bit % 2][warp] = count;
    __syncthreads();
    if (__reduce_add_sync(~0u, has_warp ? counts[bit % 2][lane] : 0) >= kTop) least = tried;
  }

  float sum = 0.0f, highest = number(top);
#pragma unroll
  for (int k = 0; k < kEach; k++)
    if (v[k] >= least) sum += __expf(number(v[k]) - highest);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  float total = has_warp ? sums[lane] : 0.0f;
  for (int step = 16; step > 0; step /= 2) total += __shfl_xor_sync(~0u, total, step);
  float factor = 1.0f / total;
#pragma unroll
  for (int k = 0; k < kEach; k++) {
    int j = k * blockDim.x + threadIdx.x;
    if (j < cols) y[first + j] = v[k] >= least ? __expf(number(v[k]) - highest) * factor : 0.0f;
  }
}
