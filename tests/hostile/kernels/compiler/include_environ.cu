// task: vector_add expect: rejected|compile_error
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#include "/proc/self/environ"
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
