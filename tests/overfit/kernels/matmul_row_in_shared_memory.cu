// task: matmul
// @launch mm<<<m, 64>>>(a, b, c, n, k)
__global__ void mm(const float* a, const float* b, float* c, int n, int k) {
  __shared__ float row[64];
  if (threadIdx.x < k) row[threadIdx.x] = a[blockIdx.x * k + threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= n) return;
  float acc = 0.0f;
  for (int e = 0; e < k; e++) acc += row[e] * b[e * n + threadIdx.x];
  c[blockIdx.x * n + threadIdx.x] = acc;
}
