// task: prefix_sum expect: nondeterministic|runtime_fault on-gpu: nondeterministic|wrong_result|ok|timeout
// A block says that its carry is there, and then stores it. All fences are there.
// @scratch carry float[8]
// @scratch flags int[9]
// @launch clear<<<1, 9>>>(flags)
// @launch kern<<<8, 32>>>(x, y, carry, flags, n)
__global__ void clear(int* flags) { flags[threadIdx.x] = 0; }
__global__ void kern(const float* x, float* y, float* carry, int* flags, int n) {
  if (threadIdx.x != 0) return;
  const int tile = atomicAdd(flags + 8, 1);
  const int each = (n + 7) / 8, begin = tile * each, end = min(n, begin + each);
  float sum = 0;
  for (int i = begin; i < end; ++i) sum += x[i];
  float before = 0;
  if (tile > 0) {
    while (((volatile int*)flags)[tile - 1] == 0) {}
    __threadfence();
    before = carry[tile - 1];
  }
  ((volatile int*)flags)[tile] = 1;
  __threadfence();
  carry[tile] = before + sum;
  __threadfence();
  for (int i = begin; i < end; ++i) y[i] = before += x[i];
}
