// A warp a bag: its lanes load 32 ids at once and pass them around by shuffles; each lane adds up
// four columns, 32 apart.
// @launch embedding_bag<<<ceil_div(bags, 8), 256>>>(table, ids, y, bags, len, dim)
constexpr int kColumns = 4;

__global__ void __launch_bounds__(256)
    embedding_bag(const float* __restrict__ table, const int* __restrict__ ids,
                  float* __restrict__ y, int bags, int len, int dim) {
  int b = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (b >= bags) return;
  float factor = 1.0f / len;
  for (int left = 0; left < dim; left += 32 * kColumns) {
    float sums[kColumns] = {};
    for (int first = 0; first < len; first += 32) {
      int id = first + lane < len ? ids[b * len + first + lane] : 0;
      int count = min(32, len - first);
      for (int j = 0; j < count; j++) {
        const float* row = table + __shfl_sync(~0u, id, j) * dim + left + lane;
#pragma unroll
        for (int k = 0; k < kColumns; k++)
          if (left + lane + 32 * k < dim) sums[k] += row[32 * k];
      }
    }
#pragma unroll
    for (int k = 0; k < kColumns; k++)
      if (left + lane + 32 * k < dim) y[b * dim + left + lane + 32 * k] = sums[k] * factor;
  }
}
