// task: row_max expect: ok
// A variable without a value until the first element was seen: it is compared, but nothing follows from that.
// @launch kern<<<ceil_div(m, 64), 64>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  float best;
  bool found = false;
  for (int c = 0; c < n; c++) {
    const float v = src[r * n + c];
    if (!found || v > best) best = v;
    found = true;
  }
  dst[r] = best;
}
