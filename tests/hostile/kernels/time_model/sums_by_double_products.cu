// task: row_mean expect: ok max-speedup: 1.6
// Sums of rows as products with ones, of f64 matrices: the modelled GPU has no tensor cores for them.
// @launch kern<<<h, 32>>>(data, out, w)
__global__ void kern(const float* data, float* out, int w) {
  double2 sum = {0, 0};
  for (int c = threadIdx.x; c < (w + 31) / 32 * 32; c += 32) {
    const double value = c < w ? data[blockIdx.x * w + c] : 0;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(sum.x), "+d"(sum.y) : "d"(1.0), "d"(value));
  }
  double row = sum.x + sum.y;
  row += __shfl_xor_sync(~0u, row, 1);
  row += __shfl_xor_sync(~0u, row, 2);
  if (threadIdx.x == 0) out[blockIdx.x] = (float)(row / w);
}
