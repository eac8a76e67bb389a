// Fractals: loops of a different length in every lane.
__device__ int escape(float cr, float ci, int limit) {
  float x = 0, y = 0;
  int k = 0;
  while (k < limit && x * x + y * y < 4) {
    const float t = x * x - y * y + cr;
    y = 2 * x * y + ci;
    x = t;
    ++k;
  }
  return k;
}
__global__ void mandelbrot(unsigned short* out, int w, int h, float x0, float y0, float step, int limit) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < w && y < h) out[y * w + x] = (unsigned short)escape(x0 + x * step, y0 + y * step, limit);
}
__global__ void julia_double(float* out, int n, double cr, double ci) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n * n) return;
  double x = 3.0 * (i % n) / n - 1.5, y = 3.0 * (i / n) / n - 1.5;
  int k = 0;
  for (; k < 200 && x * x + y * y <= 4; ++k) {
    const double t = x * x - y * y + cr;
    y = 2 * x * y + ci;
    x = t;
  }
  out[i] = k < 200 ? k + 1 - log2f(log2f((float)sqrt(x * x + y * y))) : 0;
}
