// task: row_max expect: runtime_fault|wrong_result on-gpu: runtime_fault|wrong_result|ok
// The least key of each row, in scratch that nobody sets before: right only if it begins with all bits set.
// @scratch keys int[m]
// @launch find<<<ceil_div(m * n, 256), 256>>>(src, keys, m, n)
// @launch unpack<<<ceil_div(m, 64), 64>>>(src, keys, dst, m)
__device__ unsigned key_of(float v) {
  const unsigned bits = __float_as_uint(v);
  return (bits >> 31) ? bits : 0x7fffffffu - bits;
}
__global__ void find(const float* src, int* keys, int m, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  if (i < m * n) atomicMin((unsigned*)keys + i / n, key_of(src[i]));
}
__global__ void unpack(const float* src, const int* keys, float* dst, int m) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  const unsigned key = keys[r];
  dst[r] = __uint_as_float((key >> 31) ? key : 0x7fffffffu - key);
}
