// task: vector_add expect: launch_error|compile_error|rejected
// A directive that names a kernel with control bytes.
// @launch ke[2Jrn<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
