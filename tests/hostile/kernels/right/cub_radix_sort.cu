// task: row_argmax expect: ok
// cub::BlockRadixSort: the row's keys are sorted in pieces, the last one is the largest.
// @launch kern<<<rows, 64>>>(x, y, cols)
#include <cub/block/block_radix_sort.cuh>
__global__ void kern(const float* x, int* y, int cols) {
  using Sort = cub::BlockRadixSort<float, 64, 1, int>;
  __shared__ typename Sort::TempStorage storage;
  float best = -INFINITY;
  int at = 0;
  for (int base = 0; base < cols; base += 64) {
    const int c = base + 63 - threadIdx.x;  // of equal keys the last one is the smallest c
    float key[1] = {c < cols ? x[blockIdx.x * cols + c] : -INFINITY};
    int value[1] = {c};
    Sort(storage).Sort(key, value);
    if (key[0] > best) best = key[0], at = value[0];
    __syncthreads();
  }
  if (threadIdx.x == 63) y[blockIdx.x] = at;
}
