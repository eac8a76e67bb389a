// task: swiglu
// @launch glu<<<rows, 128>>>(x, y, half)
__global__ void glu(const float* x, float* y, int half) {
  int r = blockIdx.x, j = threadIdx.x;
  if (j >= half) return;
  float g = x[r * 2 * half + j];
  y[r * half + j] = g / (1.0f + expf(-g)) * x[r * 2 * half + half + j];
}
