// task: vector_add expect: runtime_fault|ok on-gpu: ok|wrong_result|nondeterministic
// One thread writes a word, another the upper half of it, in no order.
// @launch kern<<<ceil_div(n, 64), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 64 + threadIdx.x / 2;
  if (i >= n) return;
  const unsigned bits = __float_as_uint(a[i] + b[i]);
  if (threadIdx.x % 2 == 0) ((unsigned*)out)[i] = bits;
  else ((unsigned short*)(out + i))[1] = (unsigned short)(bits >> 16);
}
