// emulate: --launch 'naive<<<dim3(2, 2), dim3(8, 8)>>>(A, B, C, 16)' --buffer A=f32[16,16]:ones --buffer B=f32[16,16]:ones --buffer C=f32[16,16]
// holds: C = 16 16 16 16
// A program that times its kernel with events.
#include <cstdio>
#include <vector>
__global__ void naive(const float* A, const float* B, float* C, int n) {
  int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n || col >= n) return;
  float acc = 0.f;
  for (int k = 0; k < n; ++k) acc += A[row * n + k] * B[k * n + col];
  C[row * n + col] = acc;
}
int main() {
  const int n = 256;
  std::vector<float> h(n * n, 1.f);
  float *A, *B, *C, ms;
  size_t bytes = h.size() * sizeof(float);
  cudaMalloc(&A, bytes), cudaMalloc(&B, bytes), cudaMalloc(&C, bytes);
  cudaMemcpy(A, h.data(), bytes, cudaMemcpyHostToDevice);
  cudaMemcpy(B, h.data(), bytes, cudaMemcpyHostToDevice);
  cudaEvent_t start, stop;
  cudaEventCreate(&start), cudaEventCreate(&stop);
  dim3 block(8, 8), grid(n / 8, n / 8);
  cudaEventRecord(start);
  naive<<<grid, block>>>(A, B, C, n);
  cudaEventRecord(stop);
  cudaEventSynchronize(stop);
  cudaEventElapsedTime(&ms, start, stop);
  std::printf("%.2f GFLOP/s\n", 2.0 * n * n * n / ms / 1e6);
}
