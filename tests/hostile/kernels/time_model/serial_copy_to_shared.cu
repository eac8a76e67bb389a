// task: matmul expect: ok max-speedup: 2.0
// One thread copies both matrices to shared memory, a few threads multiply.
// @launch kern<<<1, 64>>>(a, b, c, m, n, k)
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[64 * 64], right[64 * 64];
  const bool fits = m * k <= 4096 && k * n <= 4096;
  if (fits && threadIdx.x == 0) {
    for (int i = 0; i < m * k; ++i) left[i] = a[i];
    for (int i = 0; i < k * n; ++i) right[i] = b[i];
  }
  __syncthreads();
  for (int i = threadIdx.x; i < m * n; i += 64) {
    float sum = 0;
    for (int e = 0; e < k; ++e) sum += fits ? left[i / n * k + e] * right[e * n + i % n] : a[i / n * k + e] * b[e * n + i % n];
    c[i] = sum;
  }
}
