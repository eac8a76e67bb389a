// matmul
#include <cuda_runtime.h>

__global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  const int col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= m || col >= n) return;
  float sum = 0;
  for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + col];
  c[row * n + col] = sum;
}

extern "C" cudaError_t launch(const float* a, const float* b, float* c, int m, int n, int k,
                              cudaStream_t stream) {
  const dim3 block(32, 8), grid((n + 31) / 32, (m + 7) / 8);
  matmul<<<grid, block, 0, stream>>>(a, b, c, m, n, k);
  return cudaGetLastError();
}
