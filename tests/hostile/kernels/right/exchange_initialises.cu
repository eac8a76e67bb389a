// task: total_max expect: ok
// The first value of a word comes from an exchange whose old value nobody looks at.
// @scratch best int[1]
// @launch begin<<<1, 32>>>(best)
// @launch raise<<<ceil_div(N, 128), 128>>>(a, best, N)
// @launch unpack<<<1, 1>>>(best, res)
__global__ void begin(int* best) {
  if (threadIdx.x == 0) atomicExch((unsigned*)best, 0u);
}
__global__ void raise(const float* a, int* best, int N) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= N) return;
  const unsigned bits = __float_as_uint(a[i]);
  atomicMax((unsigned*)best, (bits >> 31) ? ~bits : bits | 0x80000000u);
}
__global__ void unpack(const int* best, float* res) {
  const unsigned key = *best;
  *res = __uint_as_float((key >> 31) ? key & 0x7fffffffu : ~key);
}
