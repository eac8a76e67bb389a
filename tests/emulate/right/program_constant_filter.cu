// emulate: --launch 'blur<<<2, 64>>>(x, y, 100)' --buffer x=f32[100]:4 --buffer y=f32[100]
// holds: y = 3 4 4 4 4 4 4 4
// The constant array has initial values; a program may replace them with cudaMemcpyToSymbol.
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
__constant__ float weights[3] = {0.25f, 0.5f, 0.25f};
__global__ void blur(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float left = i > 0 ? x[i - 1] : 0.0f, right = i < n - 1 ? x[i + 1] : 0.0f;
  y[i] = weights[0] * left + weights[1] * x[i] + weights[2] * right;
}
int main(int argc, char** argv) {
  int n = argc > 1 ? atoi(argv[1]) : 100;
  float *x, *y, w[3] = {0.25f, 0.5f, 0.25f};
  cudaMalloc((void**)&x, n * sizeof(float));
  cudaMalloc((void**)&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaMemcpyToSymbol(weights, w, sizeof(w));
  blur<<<(n + 63) / 64, 64>>>(x, y, n);
  cudaDeviceSynchronize();
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(y);
  return EXIT_SUCCESS;
}
