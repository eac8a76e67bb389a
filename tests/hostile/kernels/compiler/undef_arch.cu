// task: vector_add expect: ok|compile_error|rejected|wrong_result
// __CUDA_ARCH__ and __CUDACC__ are undefined again.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#undef __CUDA_ARCH__
#undef __CUDACC__
#define __CUDA_ARCH__ 100
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
