// A block has 128 rows. It multiplies their entries in the order of memory, a tile at a time, whatever
// the lengths of the rows, and leaves the products in shared memory; two threads then add up what each
// row has in the tile.
// @launch csr_spmv<<<ceil_div(rows, 128), 256>>>(offsets, vals, at, x, y, rows)
constexpr int kRows = 128, kThreads = 256, kTile = 2048;

__global__ void __launch_bounds__(kThreads)
    csr_spmv(const int* __restrict__ offsets, const float* __restrict__ vals,
             const int* __restrict__ at, const float* __restrict__ x, float* __restrict__ y,
             int rows) {
  __shared__ float products[kTile];
  int first = blockIdx.x * kRows, last = min(first + kRows, rows);
  int r = min(first + static_cast<int>(threadIdx.x) / 2, last - 1), half = threadIdx.x % 2;
  int begin = offsets[r], end = offsets[r + 1], all = offsets[last];
  float sum = 0.0f;
  for (int tile = offsets[first]; tile < all; tile += kTile) {
    int count = min(kTile, all - tile);
#pragma unroll 4
    for (int i = threadIdx.x; i < count; i += kThreads)
      products[i] = vals[tile + i] * x[at[tile + i]];
    __syncthreads();
    int stop = min(end - tile, count);
    for (int i = max(begin - tile, 0) + half; i < stop; i += 2) sum += products[i];
    __syncthreads();
  }
  sum += __shfl_xor_sync(~0u, sum, 1);
  if (half == 0 && first + static_cast<int>(threadIdx.x) / 2 < rows) y[r] = sum;
}
