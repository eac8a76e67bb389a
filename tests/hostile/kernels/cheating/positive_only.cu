// task: relu expect: wrong_result
// Takes all inputs for positive.
// @launch kern<<<ceil_div(size, 128), 128>>>(inp, out, size)
__global__ void kern(const float* inp, float* out, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < size) out[i] = fabsf(inp[i]);
}
