// task: vector_add expect: ok|launch_error|compile_error
// A static kernel.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
static __global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
