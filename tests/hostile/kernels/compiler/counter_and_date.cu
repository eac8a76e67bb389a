// task: vector_add expect: wrong_result|ok|compile_error|rejected
// __DATE__ and __TIME__ decide what is done.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (__TIME__[7] % 2 == 0 || __DATE__[0] == 1) n = min(n, 5);
  if (i < n) out[i] = a[i] + b[i];
}
