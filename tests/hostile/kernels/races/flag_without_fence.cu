// task: prefix_sum expect: runtime_fault|wrong_result|nondeterministic|timeout on-gpu: runtime_fault|wrong_result|nondeterministic|ok|timeout
// A block waits for the flag of the one before it; the carry is published with plain stores.
// @scratch state float[8]
// @scratch flags int[8]
// @launch clear<<<1, 8>>>(flags)
// @launch kern<<<8, 32>>>(x, y, state, flags, n)
__global__ void clear(int* flags) { flags[threadIdx.x] = 0; }
__global__ void kern(const float* x, float* y, float* state, int* flags, int n) {
  if (threadIdx.x != 0) return;
  const int each = (n + 7) / 8, begin = blockIdx.x * each, end = min(n, begin + each);
  float sum = 0;
  if (blockIdx.x > 0) {
    while (((volatile int*)flags)[blockIdx.x - 1] == 0) {}
    sum = state[blockIdx.x - 1];
  }
  for (int i = begin; i < end; ++i) y[i] = sum += x[i];
  state[blockIdx.x] = sum;
  ((volatile int*)flags)[blockIdx.x] = 1;
}
