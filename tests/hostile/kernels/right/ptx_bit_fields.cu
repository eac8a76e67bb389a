// task: histogram expect: ok
// bfe, bfi, brev, bfind, popc, clz, shf by asm or their intrinsics: the key goes through all of them and comes back.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, counts, n)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  unsigned key = keys[i], field, put, place;
  asm("bfe.u32 %0, %1, 0, 6;" : "=r"(field) : "r"(key));
  asm("bfi.b32 %0, %1, 0, 16, 8;" : "=r"(put) : "r"(field));
  asm("bfind.u32 %0, %1;" : "=r"(place) : "r"(put | 1u));
  key = __brev(__brev(put)) >> 16;
  key = __funnelshift_r(key << 8, 0, 8) + (place > 31) + __popc(0) + (31 - __clz(1));
  key = __byte_perm(key, 0, 0x4440) + __ffs(0) + (unsigned)__sad(3, 3, 0u);
  atomicAdd(&counts[key], 1);
}
