// emulate: --launch 'saxpy<<<(N + 255) / 256, 256>>>(N, a, x, y)' --value N=1000 --value a=2.0
// emulate: --buffer x=f32[N]:ones --buffer y=f32[N]:2
// holds: y = 4 4 4 4
// A whole program, as in an introduction to CUDA.
#include <cmath>
#include <cstdio>
__global__ void saxpy(int n, float a, float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
int main(void) {
  int N = 1 << 20;
  float *x = (float*)malloc(N * sizeof(float)), *y = (float*)malloc(N * sizeof(float)), *d_x, *d_y;
  cudaMalloc(&d_x, N * sizeof(float));
  cudaMalloc(&d_y, N * sizeof(float));
  for (int i = 0; i < N; i++) x[i] = 1.0f, y[i] = 2.0f;
  cudaMemcpy(d_x, x, N * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemcpy(d_y, y, N * sizeof(float), cudaMemcpyHostToDevice);
  saxpy<<<(N + 255) / 256, 256>>>(N, 2.0f, d_x, d_y);
  cudaMemcpy(y, d_y, N * sizeof(float), cudaMemcpyDeviceToHost);
  float most = 0.0f;
  for (int i = 0; i < N; i++) most = fmaxf(most, fabsf(y[i] - 4.0f));
  printf("Max error: %f\n", most);
  cudaFree(d_x);
  cudaFree(d_y);
  free(x);
  free(y);
}
