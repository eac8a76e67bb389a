// Four-bit weights in words: packing, dequantising to half with lop3, product with groups.
#include <cuda_fp16.h>
__global__ void pack_int4(const int* q, unsigned* out, int words) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= words) return;
  unsigned w = 0;
#pragma unroll
  for (int k = 0; k < 8; ++k) w |= (unsigned)(q[i * 8 + k] & 15) << (4 * k);
  out[i] = w;
}
__device__ __half2 two(unsigned word, unsigned magic) {
  unsigned h;
  asm("lop3.b32 %0, %1, %2, %3, 0xea;" : "=r"(h) : "r"(word), "n"(0x000f000f), "r"(magic));
  return __hsub2(*reinterpret_cast<__half2*>(&h), __half2half2(__ushort_as_half(0x6408)));
}
__global__ void gemv_int4(const unsigned* w, const __half* scales, const __half2* x, float* y, int words, int group) {
  float sum = 0;
  for (int i = threadIdx.x; i < words; i += 32) {
    const unsigned word = w[(size_t)blockIdx.x * words + i];
    __half2 part = __hmul2(two(word, 0x64006400u), x[i * 4]);
    part = __hfma2(two(word >> 4, 0x64006400u), x[i * 4 + 1], part);
    part = __hfma2(two(word >> 8, 0x64006400u), x[i * 4 + 2], part);
    part = __hfma2(two(word >> 12, 0x64006400u), x[i * 4 + 3], part);
    sum += __half2float(scales[(size_t)blockIdx.x * (words * 8 / group) + i * 8 / group]) * (__low2float(part) + __high2float(part));
  }
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
