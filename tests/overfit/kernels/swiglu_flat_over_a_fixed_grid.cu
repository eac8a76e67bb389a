// task: swiglu
// @launch glu<<<38, 256>>>(x, y, rows, half)
__global__ void glu(const float* x, float* y, int rows, int half) {
  int i = blockIdx.x * 256 + threadIdx.x;
  if (i >= rows * half) return;
  int r = i / half, j = i % half;
  float g = x[r * 2 * half + j];
  y[i] = g / (1.0f + expf(-g)) * x[r * 2 * half + half + j];
}
