// task: vector_add expect: launch_error|runtime_fault
// 256 threads for a kernel that is compiled for 64.
// @launch kern<<<ceil_div(n, 256), 256>>>(a, b, out, n)
__global__ void __launch_bounds__(64) kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
