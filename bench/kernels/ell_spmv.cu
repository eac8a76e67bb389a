// Eight lanes a row, four entries in flight each; then a sum over the eight. The entries are read
// once and past the L1 cache, which is left to x.
// @launch ell_spmv<<<ceil_div(rows, 32), 256>>>(vals, at, x, y, rows, width)
constexpr int kLanes = 8, kBatch = 4;

__global__ void __launch_bounds__(256)
    ell_spmv(const float* __restrict__ vals, const int* __restrict__ at,
             const float* __restrict__ x, float* __restrict__ y, int rows, int width) {
  int r = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes, lane = threadIdx.x % kLanes;
  int first = r * width;
  float sum = 0.0f;
  for (int j = lane; r < rows && j < width; j += kLanes * kBatch) {
    float v[kBatch], factor[kBatch];
    int column[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; k++) {
      bool inside = j + kLanes * k < width;
      v[k] = inside ? __ldcs(vals + first + j + kLanes * k) : 0.0f;
      column[k] = inside ? __ldcs(at + first + j + kLanes * k) : 0;
    }
#pragma unroll
    for (int k = 0; k < kBatch; k++) factor[k] = x[column[k]];
#pragma unroll
    for (int k = 0; k < kBatch; k++)
      if (j + kLanes * k < width) sum += v[k] * factor[k];
  }
  for (int step = kLanes / 2; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
  if (lane == 0 && r < rows) y[r] = sum;
}
