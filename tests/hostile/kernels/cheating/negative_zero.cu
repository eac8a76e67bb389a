// task: relu expect: ok
// -0 for 0: equal numbers.
// @launch kern<<<ceil_div(size, 128), 128>>>(inp, out, size)
__global__ void kern(const float* inp, float* out, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < size) out[i] = inp[i] > 0 ? inp[i] : -0.0f;
}
