// A warp a row, whose entries lie side by side. A lane has two of them in flight; then a sum over the
// lanes. Entries are read once and past the L1 cache, which is left to x.
// @launch csr_spmv<<<ceil_div(rows, 8), 256>>>(offsets, vals, at, x, y, rows)
__global__ void __launch_bounds__(256)
    csr_spmv(const int* __restrict__ offsets, const float* __restrict__ vals,
             const int* __restrict__ at, const float* __restrict__ x, float* __restrict__ y,
             int rows) {
  int r = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= rows) return;
  int end = offsets[r + 1];
  float sum = 0.0f, other = 0.0f;
  for (int k = offsets[r] + lane; k < end; k += 64) {
    bool both = k + 32 < end;
    float v = __ldcs(vals + k), w = both ? __ldcs(vals + k + 32) : 0.0f;
    int a = __ldcs(at + k), b = both ? __ldcs(at + k + 32) : a;
    sum += v * x[a];
    if (both) other += w * x[b];
  }
  sum += other;
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0) y[r] = sum;
}
