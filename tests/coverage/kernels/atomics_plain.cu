// The atomic functions of all types and scopes.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
__global__ void atomics_plain(int* i, unsigned* u, unsigned long long* l, float* f, double* d, __half2* h, __half* hs) {
  const int t = threadIdx.x;
  int r = atomicAdd(i, t) + atomicSub(i + 1, t) + atomicExch(i + 2, t) + atomicMin(i + 3, t) + atomicMax(i + 4, t) + atomicAnd(i + 5, t) + atomicOr(i + 6, t) + atomicXor(i + 7, t) + atomicCAS(i + 8, 0, t);
  unsigned v = atomicInc(u, 100) + atomicDec(u + 1, 100) + atomicMin(u + 2, t) + atomicMax(u + 3, t) + atomicAdd_block(u + 4, t) + atomicCAS_system(u + 5, 0u, 1u);
  unsigned long long w = atomicAdd(l, t) + atomicMin(l + 1, t) + atomicMax(l + 2, t) + atomicAnd(l + 3, t) + atomicOr(l + 4, t) + atomicXor(l + 5, t) + atomicExch(l + 6, t) + atomicCAS(l + 7, 0ull, 1ull);
  long long signed_max = atomicMax((long long*)l + 8, (long long)-t);
  atomicAdd(f, 1.0f);
  f[1 + t] = atomicExch(f + 64, (float)r);
  d[1 + t] = atomicAdd(d, 1.0) + v + w + signed_max;
  atomicAdd(h, __float2half2_rn(1.f));
  atomicAdd(hs, __float2half(1.f));
  unsigned short s = atomicCAS((unsigned short*)hs + 2, (unsigned short)0, (unsigned short)t);
  i[16 + t] = s;
}
