// task: vector_add expect: rejected|compile_error
// The compiler's own memory map.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#include </proc/self/maps>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
