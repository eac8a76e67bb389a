// task: vector_add expect: ok|rejected|compile_error
// red and atom of half, bfloat16, vectors and 64-bit exchanges, on scratch memory.
// @scratch t int[64]
// @launch clear<<<1, 64>>>(t)
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n, t)
__global__ void clear(int* t) { t[threadIdx.x] = 0; }
__global__ void kern(const float* a, const float* b, float* out, int n, int* t) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("red.global.add.noftz.f16x2 [%0], %1;" :: "l"(t), "r"(0) : "memory");
  asm volatile("{.reg .b64 x; atom.global.exch.b64 x, [%0], 1;}" :: "l"(t + 4) : "memory");
  asm volatile("{.reg .b32 x; atom.acq_rel.gpu.global.cas.b32 x, [%0], 0, 1;}" :: "l"(t + 8) : "memory");
  asm volatile("red.release.sys.global.or.b64 [%0], 4;" :: "l"(t + 10) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
