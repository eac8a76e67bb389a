// task: vector_add expect: ok|runtime_fault|rejected|compile_error
// applypriority and createpolicy: hints for the L2 cache.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" :: "l"(a) : "memory");
  unsigned long long policy;
  asm volatile("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
  float v;
  asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(a), "l"(policy));
  n += v == 1.2345e30f;
  if (i < n) out[i] = a[i] + b[i];
}
