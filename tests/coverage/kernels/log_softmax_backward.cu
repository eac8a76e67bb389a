// Log-softmax forward and backward in double for float tensors.
__global__ void log_softmax(const float* x, float* y, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double top = -1e300, sum = 0;
  for (int c = 0; c < cols; ++c) top = fmax(top, (double)x[r * cols + c]);
  for (int c = 0; c < cols; ++c) sum += exp((double)x[r * cols + c] - top);
  const double shift = top + log(sum);
  for (int c = 0; c < cols; ++c) y[r * cols + c] = (float)(x[r * cols + c] - shift);
}
__global__ void log_softmax_backward(const float* dy, const float* y, float* dx, int rows, int cols) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  double sum = 0;
  for (int c = 0; c < cols; ++c) sum += dy[r * cols + c];
  for (int c = 0; c < cols; ++c) dx[r * cols + c] = (float)(dy[r * cols + c] - exp((double)y[r * cols + c]) * sum);
}
