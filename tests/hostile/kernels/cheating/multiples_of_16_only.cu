// task: matmul expect: wrong_result
// Tiles without a tail.
// @launch kern<<<dim3(n / 16, m / 16), dim3(16, 16)>>>(a, b, c, m, n, k)
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  const int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int e = 0; e < k / 16 * 16; ++e) sum += a[r * k + e] * b[e * n + j];
  c[r * n + j] = sum;
}
