// task: vector_add expect: ok|wrong_result|runtime_fault|rejected|compile_error|nondeterministic
// A variable of its own called threadIdx, and a macro for blockDim.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define blockDim dim3(1)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
