// task: vector_add expect: ok|launch_error|compile_error
// Two kernels of one name.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(float* out) { out[0] = 1; }
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
