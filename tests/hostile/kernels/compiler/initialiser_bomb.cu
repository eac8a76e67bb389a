// task: vector_add expect: ok|compile_error|timeout|resource_limit|rejected|launch_error
// 64 MiB of initialised __device__ memory.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ int kMuch[16777216] = {1, 2, 3};
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  n += kMuch[i] == 5;
  if (i < n) out[i] = a[i] + b[i];
}
