// task: vector_add expect: ok
// Stores of all orders and scopes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) {
    const float v = a[i] + b[i];
    asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" :: "l"(out + i), "f"(0.0f) : "memory");
    asm volatile("st.release.sys.global.f32 [%0], %1;" :: "l"(out + i), "f"(v) : "memory");
  }
}
