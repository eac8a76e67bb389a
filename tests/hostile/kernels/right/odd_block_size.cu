// task: row_sum expect: ok
// Blocks of 37 threads: a partial warp, whose masks are partial too.
// @launch kern<<<rows, 37>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float part[2];
  const unsigned active = __activemask();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 37) sum += x[blockIdx.x * cols + c];
  const unsigned mask = threadIdx.x < 32 ? 0xffffffffu : 0x1fu;
  const int lanes = threadIdx.x < 32 ? 32 : 5, lane = threadIdx.x & 31;
  for (int d = 16; d > 0; d >>= 1) {
    const float other = __shfl_down_sync(mask, sum, d);
    if (lane + d < lanes) sum += other;
  }
  if (lane == 0) part[threadIdx.x >> 5] = sum + 0.0f * (active == 0);
  __syncthreads();
  if (threadIdx.x == 0) y[blockIdx.x] = part[0] + part[1];
}
