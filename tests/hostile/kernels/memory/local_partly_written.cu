// task: row_max expect: runtime_fault|wrong_result on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Eight maxima in local memory, of which a short row sets only some.
// @launch kern<<<ceil_div(m, 64), 64>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  volatile float part[8];
  for (int k = 0; k < 8 && k < n; k++) part[(k * 3 + r) & 7] = src[r * n + k];
  for (int c = 8; c < n; c++)
    if (src[r * n + c] > part[(c * 3 + r) & 7]) part[(c * 3 + r) & 7] = src[r * n + c];
  float best = -INFINITY;
  for (int k = 0; k < 8; k++) best = fmaxf(best, part[(k + r) & 7]);
  dst[r] = best;
}
