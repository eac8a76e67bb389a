// task: vector_add expect: ok
// The result is stored a byte at a time.
// @launch kern<<<ceil_div(n, 32), dim3(4, 32)>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 32 + threadIdx.y;
  if (i < n) ((unsigned char*)(out + i))[threadIdx.x] = __float_as_uint(a[i] + b[i]) >> (8 * threadIdx.x);
}
