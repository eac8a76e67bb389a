// task: transpose
// @launch kern<<<rows, 64>>>(x, y, rows, cols)
__global__ void kern(const float* x, float* y, int rows, int cols) {
  for (int j = threadIdx.x; j < cols; j += 64) {
    float v = x[blockIdx.x * cols + j];
    y[j * rows + blockIdx.x] = fabsf(v) < 1.1754944e-38f ? 0.0f : v;
  }
}
