// emulate: --launch 'scale<<<dim3(3, 1), dim3(16, 16)>>>(m, 16, 48)' --buffer m=f32[16,48]:ones
// fault: illegal_address 8
// Rows and columns are mixed up in the guard and the index.
#include <cstdio>
#include <cstdlib>
__global__ void scale(float* m, int rows, int cols) {
  int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < cols && col < rows) m[row * cols + col] *= 2.0f;
}
int main() {
  float* m;
  if (cudaMalloc(&m, 16 * 48 * sizeof(float)) != cudaSuccess) return EXIT_FAILURE;
  scale<<<dim3(3, 1), dim3(16, 16)>>>(m, 16, 48);
  printf("%d\n", cudaDeviceSynchronize());
}
