// task: row_max expect: ok
// ld.shared and st.shared with addresses of 32 bits, bar.sync and red by asm.
// @launch kern<<<m, 64>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ unsigned best[2];
  const unsigned at = (unsigned)__cvta_generic_to_shared(best);
  if (threadIdx.x == 0) asm volatile("st.shared.v2.u32 [%0], {%1, %1};" :: "r"(at), "r"(0) : "memory");
  asm volatile("bar.sync 0;" ::: "memory");
  for (int c = threadIdx.x; c < n; c += 64) {
    const unsigned bits = __float_as_uint(src[blockIdx.x * n + c]);
    const unsigned key = bits >> 31 ? ~bits : bits | 0x80000000u;
    asm volatile("red.shared.max.u32 [%0], %1;" :: "r"(at + 4), "r"(key) : "memory");
  }
  asm volatile("barrier.sync 0;" ::: "memory");
  if (threadIdx.x == 0) {
    unsigned key;
    asm volatile("ld.shared.u32 %0, [%1+4];" : "=r"(key) : "r"(at) : "memory");
    dst[blockIdx.x] = __uint_as_float(key >> 31 ? key & 0x7fffffffu : ~key);
  }
}
