// task: vector_add expect: launch_error
// A division by zero in a launch directive.
// @launch kern<<<n / (n - n), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
