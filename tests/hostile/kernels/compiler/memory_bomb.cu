// task: vector_add expect: resource_limit|compile_error|timeout|rejected
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ int bomb[1ul << 34] = {1};
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + bomb[i];
}
