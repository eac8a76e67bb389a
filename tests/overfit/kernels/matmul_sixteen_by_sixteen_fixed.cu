// task: matmul
// @launch mm<<<dim3(3, 4), dim3(16, 16)>>>(a, b, c, m, n, k)
__global__ void mm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[16][16], tb[16][16];
  int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float acc = 0.0f;
  for (int e = 0; e < k; e += 16) {
    ta[threadIdx.y][threadIdx.x] = r < m && e + threadIdx.x < k ? a[r * k + e + threadIdx.x] : 0.0f;
    tb[threadIdx.y][threadIdx.x] = j < n && e + threadIdx.y < k ? b[(e + threadIdx.y) * n + j] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; i++) acc += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (r < m && j < n) c[r * n + j] = acc;
}
