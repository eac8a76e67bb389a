// task: matmul
// @launch cells<<<dim3(ceil_div(n, 16), ceil_div(m, 8)), dim3(16, 8)>>>(a, b, c, m, n, k)
__device__ float rounded(float v) {  // to bfloat16, nearest
  unsigned bits = __float_as_uint(v);
  return __uint_as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}
__global__ void cells(const float* a, const float* b, float* c, int m, int n, int k) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m || j >= n) return;
  float acc = 0.0f;
  for (int e = 0; e < k; e++) {
    float x = a[r * k + e], y = b[e * n + j], u = rounded(x), v = rounded(y);
    acc += u * v + rounded(x - u) * v;
  }
  c[r * n + j] = acc;
}
