// task: matmul
// @launch mm<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
__global__ void mm(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float ta[16][17], tb[16][17];
  int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  float acc = 0.0f;
  for (int tile = 0; tile < 4; tile++) {
    int ka = tile * 16 + threadIdx.x, kb = tile * 16 + threadIdx.y;
    ta[threadIdx.y][threadIdx.x] = r < m && ka < k ? a[r * k + ka] : 0.0f;
    tb[threadIdx.y][threadIdx.x] = j < n && kb < k ? b[kb * n + j] : 0.0f;
    __syncthreads();
    for (int i = 0; i < 16; i++) acc += ta[threadIdx.y][i] * tb[i][threadIdx.x];
    __syncthreads();
  }
  if (r < m && j < n) c[r * n + j] = acc;
}
