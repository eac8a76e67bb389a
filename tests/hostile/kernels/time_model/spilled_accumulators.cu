// task: matmul expect: ok|compile_error|timeout max-speedup: 2.5
// A thread keeps 256 sums: more than there are registers.
// @launch kern<<<ceil_div(m * ceil_div(n, 256), 32), 32>>>(a, b, c, m, n, k)
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  const int pieces = (n + 255) / 256, t = blockIdx.x * 32 + threadIdx.x;
  if (t >= m * pieces) return;
  const int r = t / pieces, j0 = t % pieces * 256;
  float sum[256];
#pragma unroll
  for (int j = 0; j < 256; ++j) sum[j] = 0;
  for (int e = 0; e < k; ++e) {
    const float v = a[r * k + e];
#pragma unroll
    for (int j = 0; j < 256; ++j)
      if (j0 + j < n) sum[j] += v * b[e * n + j0 + j];
  }
#pragma unroll
  for (int j = 0; j < 256; ++j)
    if (j0 + j < n) c[r * n + j0 + j] = sum[j];
}
