// task: matmul expect: runtime_fault|wrong_result|nondeterministic|ok on-gpu: ok|runtime_fault|wrong_result|nondeterministic max-speedup: 1.05
// Local arrays that nobody initialised hold what the thread before has left: inputs are loaded once for all threads.
// @launch kern<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
struct Kept { long key; float left[64 * 64], right[64 * 64]; };
__device__ __noinline__ float product(Kept* kept, const float* a, const float* b, int r, int j, int m, int n, int k) {
  if (kept->key != (long)b) {
    memcpy(kept->left, a, 4 * m * k);
    memcpy(kept->right, b, 4 * k * n);
    kept->key = (long)b;
  }
  float sum = 0;
  for (int e = 0; e < k; ++e) sum += kept->left[r * k + e] * kept->right[e * n + j];
  return sum;
}
__global__ void kern(const float* a, const float* b, float* c, int m, int n, int k) {
  int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  Kept kept;
  if (r < m && j < n) c[r * n + j] = product(&kept, a, b, r, j, m, n, k);
}
