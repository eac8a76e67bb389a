// task: vector_add expect: ok|launch_error|compile_error
// A kernel in an anonymous namespace.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
namespace {
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
}
