// task: vector_add expect: rejected|compile_error|ok
// Assembly outside of any function.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
asm(".visible .global .align 4 .u32 hidden[1024];");
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
