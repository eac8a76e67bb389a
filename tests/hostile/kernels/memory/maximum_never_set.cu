// task: row_max expect: wrong_result|compile_error|runtime_fault on-gpu: wrong_result|compile_error|ok
// Maxima in registers that begin as whatever is there: zero is one of many values.
// @launch kern<<<ceil_div(m, 32), 32>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  float best[2];
  for (int c = 0; c < n; c++)
    if (r < m) best[c & 1] = fmaxf(best[c & 1], src[r * n + c]);
  if (r < m) dst[r] = n > 1 ? fmaxf(best[0], best[1]) : best[0];
}
