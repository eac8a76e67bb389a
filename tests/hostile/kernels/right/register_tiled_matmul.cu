// task: matmul expect: ok
// 32 x 32 of c by 64 threads, 4 x 4 in the registers of each.
// @launch kern<<<dim3(ceil_div(n, 32), ceil_div(m, 32)), 64>>>(a, b, c, m, n, k)
__global__ void __launch_bounds__(64) kern(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k) {
  __shared__ float left[8][36], right[8][36];
  const int t = threadIdx.x, tr = t / 8 * 4, tc = t % 8 * 4, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32;
  float sum[4][4] = {};
  for (int base = 0; base < k; base += 8) {
    for (int q = t; q < 256; q += 64) {
      const int lr = q / 8, le = q % 8, re = q / 32, rc = q % 32;
      left[le][lr] = r0 + lr < m && base + le < k ? a[(r0 + lr) * k + base + le] : 0;
      right[re][rc] = base + re < k && c0 + rc < n ? b[(base + re) * n + c0 + rc] : 0;
    }
    __syncthreads();
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      const float4 x = *(const float4*)&left[e][tr], y = *(const float4*)&right[e][tc];
      const float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sum[i][j] = fmaf(xs[i], ys[j], sum[i][j]);
    }
    __syncthreads();
  }
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      if (r0 + tr + i < m && c0 + tc + j < n) c[(r0 + tr + i) * n + c0 + tc + j] = sum[i][j];
}
