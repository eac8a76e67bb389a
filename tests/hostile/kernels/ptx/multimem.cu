// task: vector_add expect: rejected|compile_error on-gpu: runtime_fault|ok|wrong_result|rejected|compile_error
// Multicast memory.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("multimem.red.relaxed.sys.global.add.f32 [%0], %1;" :: "l"(out), "f"(0.0f) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
