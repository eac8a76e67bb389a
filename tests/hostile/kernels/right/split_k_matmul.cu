// task: matmul expect: ok
// The sum over k is split over blocks; partial results are added by atomics.
// @launch clear<<<ceil_div(m * n, 256), 256>>>(c, m * n)
// @launch kern<<<dim3(ceil_div(n, 32), m, 3), 32>>>(a, b, c, n, k)
__global__ void clear(float* c, int size) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < size) c[i] = 0;
}
__global__ void kern(const float* a, const float* b, float* c, int n, int k) {
  const int j = blockIdx.x * 32 + threadIdx.x, r = blockIdx.y;
  if (j >= n) return;
  float sum = 0;
  for (int e = blockIdx.z; e < k; e += 3) sum += a[r * k + e] * b[e * n + j];
  atomicAdd(&c[r * n + j], sum);
}
