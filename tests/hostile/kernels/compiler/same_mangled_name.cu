// task: vector_add expect: compile_error|rejected|ok|launch_error
// An extern "C" kernel with the mangled name of another.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
extern "C" __global__ void _Z4kernPKfS0_Pfi(const float* a, const float* b, float* out, int n) {}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
