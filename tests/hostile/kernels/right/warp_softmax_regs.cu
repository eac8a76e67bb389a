// task: causal_softmax expect: ok
// A warp a row, the row in registers of a fixed array, masked.
// @launch kern<32><<<ceil_div(n, 4), dim3(32, 4)>>>(x, y, n)
template <int kEach> __global__ void __launch_bounds__(128) kern(const float* __restrict__ x, float* __restrict__ y, int n) {
  const int row = blockIdx.x * 4 + threadIdx.y;
  if (row >= n) return;
  float v[kEach];
  float best = -INFINITY, sum = 0;
#pragma unroll
  for (int e = 0; e < kEach; ++e) { const int c = e * 32 + threadIdx.x; v[e] = c <= row && c < n ? x[row * n + c] : -INFINITY; best = fmaxf(best, v[e]); }
#pragma unroll
  for (int d = 16; d; d >>= 1) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, d));
#pragma unroll
  for (int e = 0; e < kEach; ++e) { v[e] = __expf(v[e] - best); sum += v[e]; }
#pragma unroll
  for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
#pragma unroll
  for (int e = 0; e < kEach; ++e) { const int c = e * 32 + threadIdx.x; if (c < n) y[row * n + c] = v[e] / sum; }
}
