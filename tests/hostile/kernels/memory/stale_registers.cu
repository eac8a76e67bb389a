// task: vector_add expect: runtime_fault|wrong_result|nondeterministic|compile_error|rejected
// A register that asm never writes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v;
  asm volatile("{.reg .f32 nothing; mov.f32 %0, nothing;}" : "=f"(v));
  if (i < n) out[i] = v;
}
