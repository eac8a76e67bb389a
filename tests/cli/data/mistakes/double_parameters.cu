#include <cuda_fp16.h>
// @launch vector_add<<<ceil_div(n, 256), 256>>>(a, b, out, n)
__global__ void vector_add(const double* a, const double* b, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
