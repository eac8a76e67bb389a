// task: vector_add expect: compile_error|timeout|resource_limit
// A constant that takes forever.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__host__ __device__ constexpr int spin(int x) {
  int s = 0;
  for (int i = 0; i < 200000; ++i)
    for (int j = 0; j < 200000; ++j) s += x;
  return s;
}
__device__ constexpr int value = spin(3);
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + 0 * value;
}
