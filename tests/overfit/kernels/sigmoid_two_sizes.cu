// task: sigmoid
// @launch sig<<<count > 10000 ? 17 : 1, 1024>>>(x, y, count)
__global__ void sig(const float* x, float* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = 1.0f / (1.0f + expf(-x[i]));
}
