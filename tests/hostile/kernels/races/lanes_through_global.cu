// task: row_cumsum expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// Every lane reads back, past the L1 cache, what the last lane has stored just before.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  const int lane = threadIdx.x;
  volatile float* out = y + blockIdx.x * cols;
  float before = 0;
  for (int base = 0; base < cols; base += 32) {
    const int c = base + lane, last = min(base + 31, cols - 1);
    float sum = c < cols ? x[blockIdx.x * cols + c] : 0;
    for (int d = 1; d < 32; d *= 2) {
      const float other = __shfl_up_sync(~0u, sum, d);
      if (lane >= d) sum += other;
    }
    if (c < cols) out[c] = before + sum;
    before = out[last];
  }
}
