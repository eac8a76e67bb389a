// softmax_rows
#include <torch/extension.h>
#include <ATen/cuda/CUDAContext.h>
#include <cfloat>

constexpr unsigned kAll = 0xffffffffu;

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) {
    value = fmaxf(value, __shfl_down_sync(kAll, value, offset));
  }
  return value;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_down_sync(kAll, value, offset);
  return value;
}

template <int kThreads>
__global__ void softmax_kernel(const float* __restrict__ x, float* __restrict__ y, int cols) {
  __shared__ float parts[kThreads / 32];
  __shared__ float shared_result;
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;

  float largest = -FLT_MAX;
  for (int c = threadIdx.x; c < cols; c += kThreads) largest = fmaxf(largest, row[c]);
  largest = warp_max(largest);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = largest;
  __syncthreads();
  if (threadIdx.x < 32) {
    float value = threadIdx.x < kThreads / 32 ? parts[threadIdx.x] : -FLT_MAX;
    value = warp_max(value);
    if (threadIdx.x == 0) shared_result = value;
  }
  __syncthreads();
  largest = shared_result;
  __syncthreads();

  float sum = 0.f;
  for (int c = threadIdx.x; c < cols; c += kThreads) sum += __expf(row[c] - largest);
  sum = warp_sum(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x < 32) {
    float value = threadIdx.x < kThreads / 32 ? parts[threadIdx.x] : 0.f;
    value = warp_sum(value);
    if (threadIdx.x == 0) shared_result = value;
  }
  __syncthreads();
  const float scale = 1.f / shared_result;
  for (int c = threadIdx.x; c < cols; c += kThreads) out[c] = __expf(row[c] - largest) * scale;
}

at::Tensor softmax_forward(const at::Tensor& x) {
  TORCH_CHECK(x.dim() == 2, "expected a matrix, got ", x.dim(), " axes");
  TORCH_CHECK(x.scalar_type() == at::kFloat, "expected float32, got ", x.scalar_type());
  at::Tensor y = at::empty_like(x);
  const int rows = x.size(0), cols = x.size(1);
  cudaStream_t stream = at::cuda::getCurrentCUDAStream().stream();
  softmax_kernel<256><<<rows, 256, 0, stream>>>(x.data_ptr<float>(), y.data_ptr<float>(), cols);
  AT_CUDA_CHECK(cudaGetLastError());
  return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
  m.doc() = "softmax over rows";
  m.def("forward", &softmax_forward, "softmax forward", py::arg("x"));
}
