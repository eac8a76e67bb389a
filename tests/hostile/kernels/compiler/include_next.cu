// task: vector_add expect: ok|rejected|compile_error
// #include_next, a header of the compiler by its full path.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#include_next <cuda_fp16.h>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
