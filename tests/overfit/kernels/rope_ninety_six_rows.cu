// task: rope
// @launch rope<<<ceil_div(half, 8), dim3(96, 8)>>>(x, co, si, y, rows, half)
__global__ void rope(const float* x, const float* co, const float* si, float* y, int rows, int half) {
  int r = threadIdx.x, j = blockIdx.x * 8 + threadIdx.y;
  if (r >= rows || j >= half) return;
  int i = r * 2 * half + j;
  float c = co[r * half + j], s = si[r * half + j];
  y[i] = x[i] * c - x[i + half] * s;
  y[i + half] = x[i] * s + x[i + half] * c;
}
