// task: vector_add expect: rejected
// A constant for a policy, from a table.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__constant__ unsigned long long policies[2] = {0x14f0000000000000ull, 0x1000000000000000ull};
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float sum = i < n ? a[i] + b[i] : 0;
  if (i < n) {
    asm volatile("st.global.L2::cache_hint.f32 [%0], %1, %2;" ::"l"(out + i), "f"(sum),
                 "l"(policies[n & 1])
                 : "memory");
  }
}
