// task: total_sum expect: ok max-speedup: 1.2
// One thread adds everything, a thousand blocks pretend to be busy.
// @launch kern<<<1000, 128>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  if (blockIdx.x > 0) {
    volatile float spent = threadIdx.x;
    for (int k = 0; k < 8; ++k) spent = spent * 1.5f;
    return;
  }
  if (threadIdx.x > 0) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  *y = sum;
}
