// task: vector_add expect: compile_error
// A directive that cannot be read must not make code that does not compile look one step further than it is.
// @launch kern<<<ceil_div(n, 128), 128>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x
  if (i < n) out[i] = a[i] + b[i];
}
