// int8 products by dp4a.
__global__ void matmul_dp4a(const int* __restrict__ a, const int* __restrict__ bt, int* __restrict__ c, int m, int n, int k4) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  int sum = 0;
#pragma unroll 4
  for (int e = 0; e < k4; ++e) sum = __dp4a(a[i * k4 + e], bt[j * k4 + e], sum);
  unsigned u = 0;
  for (int e = 0; e < k4; ++e) u = __dp4a((unsigned)a[i * k4 + e], (unsigned)bt[j * k4 + e], u);
  c[i * n + j] = sum + (int)(u & 1) + __dp2a_lo(a[0], bt[0], 0) + __dp2a_hi(a[0], bt[0], 0);
}
