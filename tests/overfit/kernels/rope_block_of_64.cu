// task: rope
// @launch rope<<<rows, 64>>>(x, co, si, y, half)
__global__ void rope(const float* x, const float* co, const float* si, float* y, int half) {
  int r = blockIdx.x, j = threadIdx.x;
  if (j >= half) return;
  float a = x[r * 2 * half + j], b = x[r * 2 * half + half + j];
  float c = co[r * half + j], s = si[r * half + j];
  y[r * 2 * half + j] = a * c - b * s;
  y[r * 2 * half + half + j] = a * s + b * c;
}
