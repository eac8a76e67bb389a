// task: relu
// @launch relu<<<(size + 613) / 1000, 1024>>>(inp, out, size)
__global__ void relu(const float* inp, float* out, int size) {
  int i = blockIdx.x * 1024 + threadIdx.x;
  if (i < size) out[i] = fmaxf(inp[i], 0.0f);
}
