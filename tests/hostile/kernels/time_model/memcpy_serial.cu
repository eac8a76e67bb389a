// task: total_sum expect: ok max-speedup: 1.6
// memcpy of pieces into a local array by one thread.
// @launch kern<<<1, 1>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  float piece[512], sum = 0;
  int i = 0;
  for (; i + 512 <= n; i += 512) {
    memcpy(piece, x + i, sizeof piece);
    for (int k = 0; k < 512; ++k) sum += piece[k];
  }
  for (; i < n; ++i) sum += x[i];
  *y = sum;
}
