// task: masked_fill expect: ok
// No branch: the choice is made of bits.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, mask, y, value, n)
__global__ void kern(const float* x, const int* mask, float* y, float value, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned m = -(unsigned)(mask[i] != 0);
  y[i] = __uint_as_float((m & __float_as_uint(value)) | (~m & __float_as_uint(x[i])));
}
