// matmul
#include <torch/extension.h>
#include <vector>

#define TILE 16

__global__ void matmul_kernel(const float* __restrict__ A, const float* __restrict__ B,
                              float* __restrict__ C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE + 1];
  const int row = blockIdx.y * TILE + threadIdx.y;
  const int col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < (K + TILE - 1) / TILE; ++t) {
    As[threadIdx.y][threadIdx.x] =
        row < M && t * TILE + threadIdx.x < K ? A[row * K + t * TILE + threadIdx.x] : 0.0f;
    Bs[threadIdx.y][threadIdx.x] =
        col < N && t * TILE + threadIdx.y < K ? B[(t * TILE + threadIdx.y) * N + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) sum += As[threadIdx.y][k] * Bs[k][threadIdx.x];
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = sum;
}

torch::Tensor forward(torch::Tensor A, torch::Tensor B) {
  TORCH_CHECK(A.is_cuda() && B.is_cuda(), "inputs must be on the GPU");
  TORCH_CHECK(A.size(1) == B.size(0), "inner sizes differ: ", A.sizes(), " and ", B.sizes());
  A = A.contiguous();
  B = B.contiguous();
  const int M = A.size(0), K = A.size(1), N = B.size(1);
  auto options = torch::TensorOptions().dtype(A.dtype()).device(A.device());
  torch::Tensor C = torch::empty({M, N}, options);
  const dim3 threads(TILE, TILE);
  const dim3 blocks((N + TILE - 1) / TILE, (M + TILE - 1) / TILE);
  matmul_kernel<<<blocks, threads>>>(A.data_ptr<float>(), B.data_ptr<float>(), C.data_ptr<float>(),
                                     M, N, K);
  cudaError_t error = cudaGetLastError();
  TORCH_CHECK(error == cudaSuccess, "launch failed: ", cudaGetErrorString(error));
  return C;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def("forward", &forward, "Tiled matmul (CUDA)"); }
