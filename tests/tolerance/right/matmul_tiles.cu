// task: matmul
// @launch tiles<<<dim3(ceil_div(n, 16), ceil_div(m, 16)), dim3(16, 16)>>>(a, b, c, m, n, k)
__global__ void tiles(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float left[16][17], right[16][17];
  int x = threadIdx.x, y = threadIdx.y, r = blockIdx.y * 16 + y, j = blockIdx.x * 16 + x;
  float acc = 0.0f;
  for (int start = 0; start < k; start += 16) {
    left[y][x] = r < m && start + x < k ? a[r * k + start + x] : 0.0f;
    right[y][x] = start + y < k && j < n ? b[(start + y) * n + j] : 0.0f;
    __syncthreads();
    for (int e = 0; e < 16; e++) acc += left[y][e] * right[e][x];
    __syncthreads();
  }
  if (r < m && j < n) c[r * n + j] = acc;
}
