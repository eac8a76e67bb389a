// task: prefix_sum expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// __activemask() is taken for the lanes that have an element; it may name any of them.
// @launch kern<<<1, 32>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  float before = 0;
  for (int base = 0; base < n; base += 32) {
    const int i = base + threadIdx.x;
    if (i >= n) break;
    const unsigned here = __activemask();
    float sum = x[i];
    for (int d = 1; d < 32; d *= 2) {
      const float other = __shfl_up_sync(here, sum, d);
      if (threadIdx.x >= d) sum += other;
    }
    y[i] = before + sum;
    if (base + 32 < n) before += __shfl_sync(here, sum, 31);
  }
}
