// task: vector_add expect: rejected|compile_error
// malloc by a prototype of its own.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.param .b64 size; .param .b64 result; st.param.b64 [size], 64; call (result), malloc, (size);}");
  if (i < n) out[i] = a[i] + b[i];
}
