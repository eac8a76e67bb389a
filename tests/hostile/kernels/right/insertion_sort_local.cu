// task: row_max expect: ok
// A list kept in order in local memory; its last entry is the largest.
// @launch kern<<<ceil_div(m, 32), 32>>>(src, dst, m, n)
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 32 + threadIdx.x;
  if (r >= m) return;
  float list[12];
  int count = 0;
  for (int c = 0; c < n; ++c) {
    const float v = src[r * n + c];
    if (count == 12) {
      if (v <= list[0]) continue;
      for (int k = 1; k < 12; ++k) list[k - 1] = list[k];
      --count;
    }
    int at = count++;
    for (; at > 0 && list[at - 1] > v; --at) list[at] = list[at - 1];
    list[at] = v;
  }
  dst[r] = list[count - 1];
}
