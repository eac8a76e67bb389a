// task: vector_add expect: ok
// Loads and stores with a policy of the L2 cache: one of two, as createpolicy gave them.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ float load(const float* at, unsigned long long policy) {
  float value;
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(value) : "l"(at), "l"(policy));
  return value;
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  unsigned long long first, plain;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 0.5;" : "=l"(first));
  asm("createpolicy.fractional.L2::evict_normal.b64 %0, 1.0;" : "=l"(plain));
  if (i >= n) return;
  const float sum = load(a + i, first) + load(b + i, n > 2000 ? first : plain);
  asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(out + i), "f"(sum), "l"(first)
               : "memory");
}
