// task: transpose expect: ok
// A warp transposes 32 x 32 by shuffles alone.
// @launch kern<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), 32>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  const int lane = threadIdx.x, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
  float v[32];
#pragma unroll
  for (int k = 0; k < 32; ++k) v[k] = r0 + k < rows && c0 + lane < cols ? x[(r0 + k) * cols + c0 + lane] : 0;
#pragma unroll
  for (int bit = 16; bit > 0; bit /= 2) {
#pragma unroll
    for (int k = 0; k < 32; ++k) {
      if (k & bit) continue;
      const bool upper = lane & bit;
      const float give = upper ? v[k] : v[k | bit];
      const float got = __shfl_xor_sync(~0u, give, bit);
      if (upper) v[k] = got;
      else v[k | bit] = got;
    }
  }
#pragma unroll
  for (int k = 0; k < 32; ++k)
    if (c0 + k < cols && r0 + lane < rows) y[(c0 + k) * rows + r0 + lane] = v[k];
}
