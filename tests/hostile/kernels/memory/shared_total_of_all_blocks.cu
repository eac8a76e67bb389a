// task: row_max expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// The shared maximum is only ever raised: the first block, it hopes, finds zeros, and the row that it left is undone.
// @launch kern<<<m, 64>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  __shared__ unsigned best;
  for (int c = threadIdx.x; c < n; c += 64) {
    const unsigned bits = __float_as_uint(src[blockIdx.x * n + c]);
    atomicMax(&best, (bits >> 31) ? ~bits : bits | 0x80000000u);
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  dst[blockIdx.x] = __uint_as_float((best >> 31) ? best & 0x7fffffffu : ~best);
  atomicExch(&best, 0u);
}
