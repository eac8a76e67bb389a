// task: matmul
// @launch cells<<<dim3(ceil_div(n, 16), ceil_div(m, 8)), dim3(16, 8)>>>(a, b, c, m, n, k)
__device__ float rounded(float v) {  // to tf32, nearest
  return __uint_as_float((__float_as_uint(v) + 0x1000) & 0xffffe000u);
}
__global__ void cells(const float* a, const float* b, float* c, int m, int n, int k) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m || j >= n) return;
  float acc = 0.0f;
  for (int e = 0; e < k; e++) acc += rounded(a[r * k + e]) * rounded(b[e * n + j]);
  c[r * n + j] = acc;
}
