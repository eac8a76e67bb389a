// task: vector_add expect: ok|rejected|compile_error
// #line 0, and a number that is none.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#line 0
#line 99999999999 "x"
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
