// task: vector_add expect: rejected|compile_error
// A path that a macro makes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define PATH(x) <x>
#include PATH(/etc/hostname)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
