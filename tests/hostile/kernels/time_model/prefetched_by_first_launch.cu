// task: matmul expect: ok max-speedup: 2.5
// A launch that only touches the inputs, so that the next finds them in the cache.
// @launch touch<<<4, 128>>>(a, b, m * k, k * n)
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
__global__ void touch(const float* a, const float* b, int na, int nb) {
  for (int i = blockIdx.x * 128 + threadIdx.x; i < na; i += 512) asm volatile("prefetch.global.L2 [%0];" :: "l"(a + i));
  for (int i = blockIdx.x * 128 + threadIdx.x; i < nb; i += 512) asm volatile("prefetch.global.L2 [%0];" :: "l"(b + i));
}
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  const int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (r >= m || j >= n) return;
  float sum = 0;
  for (int e = 0; e < k; ++e) sum += a[r * k + e] * b[e * n + j];
  c[r * n + j] = sum;
}
