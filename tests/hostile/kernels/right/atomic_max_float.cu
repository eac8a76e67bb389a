// task: row_max expect: ok
// AtomicMax on the bits of floats, a launch before that sets them.
// @launch init<<<ceil_div(m, 64), 64>>>(dst, m)
// @launch kern<<<dim3(2, m), 64>>>(src, dst, n)
__device__ __forceinline__ void atomicMaxFloat(float* at, float v) {
  if (!signbit(v)) atomicMax((int*)at, __float_as_int(v)); else atomicMin((unsigned*)at, __float_as_uint(v));
}
__global__ void init(float* res, int m) { int i = blockIdx.x * 64 + threadIdx.x; if (i < m) res[i] = -INFINITY; }
__global__ void kern(const float* v, float* res, int n) {
  float best = -INFINITY;
  for (int c = blockIdx.x * 64 + threadIdx.x; c < n; c += 128) best = fmaxf(best, v[blockIdx.y * n + c]);
  for (int d = 16; d; d >>= 1) best = fmaxf(best, __shfl_xor_sync(0xffffffffu, best, d));
  if ((threadIdx.x & 31) == 0) atomicMaxFloat(res + blockIdx.y, best);
}
