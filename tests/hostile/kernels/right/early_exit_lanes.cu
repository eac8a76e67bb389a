// task: softmax_rows expect: ok
// Lanes without work leave before the warp's shuffles, whose masks know it.
// @launch kern<<<rows, 64>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float tops[2], sums[2];
  const int used = min(64, cols), lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  if (threadIdx.x >= used) {  // they still come to the block's barriers
    __syncthreads();
    __syncthreads();
    return;
  }
  const int mine = min(32, used - warp * 32);
  const unsigned mask = mine == 32 ? ~0u : (1u << mine) - 1;
  const float* row = x + blockIdx.x * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) top = fmaxf(top, row[c]);
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_down_sync(mask, top, d);
    if (lane + d < mine) top = fmaxf(top, other);
  }
  if (lane == 0) tops[warp] = top;
  __syncthreads();
  top = used > 32 ? fmaxf(tops[0], tops[1]) : tops[0];
  for (int c = threadIdx.x; c < cols; c += 64) sum += expf(row[c] - top);
  for (int d = 16; d > 0; d /= 2) {
    const float other = __shfl_down_sync(mask, sum, d);
    if (lane + d < mine) sum += other;
  }
  if (lane == 0) sums[warp] = sum;
  __syncthreads();
  sum = used > 32 ? sums[0] + sums[1] : sums[0];
  for (int c = threadIdx.x; c < cols; c += 64) y[blockIdx.x * cols + c] = expf(row[c] - top) / sum;
}
