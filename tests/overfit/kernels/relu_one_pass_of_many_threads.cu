// task: relu
// @launch relu<<<16, 1024>>>(inp, out, size)
__global__ void relu(const float* inp, float* out, int size) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < size) out[i] = fmaxf(inp[i], 0.0f);
  if (i < 3) out[size - 1 - i] = fmaxf(inp[size - 1 - i], 0.0f);
}
