// task: bias_gelu_residual
// @launch kern<<<ceil_div(rows * cols, 128), 128>>>(x, b, res, y, rows, cols)
__device__ float tangent(float v) {
  float t;
  asm("tanh.approx.f32 %0, %1;" : "=f"(t) : "f"(v));
  return t;
}
__global__ void kern(const float* x, const float* b, const float* res, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows * cols) return;
  float v = x[i] + b[i % cols];
  y[i] = 0.5f * v * (1.0f + tangent(0.7978845608f * (v + 0.044715f * v * v * v))) + res[i];
}
