// task: matmul
// @launch clear<<<ceil_div(m * n, 128), 128>>>(c, m * n)
// @launch shares<<<dim3(ceil_div(n, 16), ceil_div(m, 8), 4), dim3(16, 8)>>>(a, b, c, m, n, k)
__global__ void clear(float* c, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) c[i] = 0.0f;
}
__global__ void shares(const float* a, const float* b, float* c, int m, int n, int k) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m || j >= n) return;
  int first = k * blockIdx.z / 4, end = k * (blockIdx.z + 1) / 4;
  float acc = 0.0f;
  for (int e = first; e < end; e++) acc += a[r * k + e] * b[e * n + j];
  atomicAdd(&c[r * n + j], acc);
}
