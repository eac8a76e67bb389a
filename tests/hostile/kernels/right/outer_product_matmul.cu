// task: matmul expect: ok
// One warp a row: a's element is spread by a shuffle.
// @launch kern<<<m, 32>>>(a, b, c, n, k)
__global__ void kern(const float* a, const float* b, float* c, int n, int k) {
  for (int j0 = 0; j0 < n; j0 += 32) {
    const int j = j0 + threadIdx.x;
    float sum = 0;
    for (int base = 0; base < k; base += 32) {
      const float mine = base + (int)threadIdx.x < k ? a[blockIdx.x * k + base + threadIdx.x] : 0;
      const int count = min(32, k - base);
      for (int e = 0; e < count; ++e) {
        const float v = __shfl_sync(~0u, mine, e);
        if (j < n) sum = fmaf(v, b[(base + e) * n + j], sum);
      }
    }
    if (j < n) c[blockIdx.x * n + j] = sum;
  }
}
