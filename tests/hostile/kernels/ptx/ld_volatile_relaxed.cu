// task: vector_add expect: ok
// Loads of all orders and scopes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float v = 0;
  if (i < n) {
    asm volatile("ld.volatile.global.f32 %0, [%1];" : "=f"(v) : "l"(a + i) : "memory");
    asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(a + i) : "memory");
    asm volatile("ld.acquire.sys.global.f32 %0, [%1];" : "=f"(v) : "l"(a + i) : "memory");
    asm volatile("ld.weak.global.f32 %0, [%1];" : "=f"(v) : "l"(a + i) : "memory");
  }
  n += v == 1.2345e30f;
  if (i < n) out[i] = a[i] + b[i];
}
