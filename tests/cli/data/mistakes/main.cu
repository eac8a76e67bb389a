#include <cstdio>
__global__ void vector_add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
int main() {
  float *a, *b, *out;
  int n = 1000;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  cudaMalloc(&out, n * 4);
  vector_add<<<4, 256>>>(a, b, out, n);
  return 0;
}
