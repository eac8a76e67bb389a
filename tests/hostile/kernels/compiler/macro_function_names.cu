// task: vector_add expect: ok|compile_error|rejected|wrong_result
// Macros with the names of built-in functions and types.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define max(a, b) 0
#define __shfl_sync(m, v, l) 0
#define int2 int4
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  n += max(0, 0) + __shfl_sync(0, 0, 0);
  if (i < n) out[i] = a[i] + b[i];
}
