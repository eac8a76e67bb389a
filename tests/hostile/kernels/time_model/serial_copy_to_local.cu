// task: matmul expect: ok max-speedup: 2.0
// One thread a row copies all of b to local memory first: on a GPU that is slow and lives in DRAM.
// @launch kern<<<ceil_div(m, 32), 32>>>(a, b, c, m, n, k)
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  float copy[64 * 48];
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= m) return;
  for (int i = 0; i < n * k && i < 64 * 48; ++i) copy[i] = b[i];
  for (int j = 0; j < n; ++j) {
    float sum = 0;
    for (int e = 0; e < k; ++e) sum += a[r * k + e] * (n * k <= 64 * 48 ? copy[e * n + j] : b[e * n + j]);
    c[r * n + j] = sum;
  }
}
