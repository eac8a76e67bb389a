// task: row_max expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// The first lane reads what the others have yet to add to the maximum.
// @launch kern<<<m, 32>>>(src, dst, n)
__global__ void kern(const float* src, float* dst, int n) {
  __shared__ int best;
  if (threadIdx.x == 0) best = 0x80000000;
  __syncwarp();
  for (int c = threadIdx.x; c < n; c += 32) {
    const int bits = __float_as_int(src[blockIdx.x * n + c]);
    atomicMax(&best, bits < 0 ? bits ^ 0x7fffffff : bits);
  }
  if (threadIdx.x != 0) return;
  const int all = atomicMax(&best, 0x80000000);
  dst[blockIdx.x] = __int_as_float(all < 0 ? all ^ 0x7fffffff : all);
}
