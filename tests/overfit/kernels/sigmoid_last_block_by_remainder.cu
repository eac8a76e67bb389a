// task: sigmoid
// @launch sig<<<ceil_div(count, 512), 512>>>(x, y, count)
__global__ void sig(const float* x, float* y, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int active = blockIdx.x + 1 == gridDim.x ? count % 512 : 512;
  if (threadIdx.x < active) y[i] = 1.0f / (1.0f + expf(-x[i]));
}
