// task: prefix_sum expect: runtime_fault|wrong_result|nondeterministic|timeout on-gpu: runtime_fault|wrong_result|nondeterministic|ok|timeout
// Counts on blocks running in order: reads the last element of the block before.
// @launch kern<<<ceil_div(n, 128), 1>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  const int begin = blockIdx.x * 128, end = min(n, begin + 128);
  float sum = begin > 0 ? y[begin - 1] : 0;
  for (int i = begin; i < end; ++i) y[i] = sum += x[i];
}
