// task: row_argmax expect: ok
// bar.red counts, ands and ors over a block.
// @launch kern<<<rows, 64>>>(x, y, cols)
__global__ void kern(const float* x, int* y, int cols) {
  __shared__ float top[64];
  const float* row = x + blockIdx.x * cols;
  float best = -INFINITY;
  int at = 0;
  for (int c = threadIdx.x; c < cols; c += 64)
    if (row[c] > best) best = row[c], at = c;
  top[threadIdx.x] = best;
  __syncthreads();
  float all = top[0];
  for (int t = 1; t < 64; ++t) all = fmaxf(all, top[t]);
  const int winners = __syncthreads_count(best == all);
  const bool every = __syncthreads_and(best <= all), some = __syncthreads_or(best == all);
  __shared__ int first;
  if (threadIdx.x == 0) first = cols;
  __syncthreads();
  if (best == all) atomicMin(&first, at);
  __syncthreads();
  if (threadIdx.x == 0 && winners >= 1 && every && some) y[blockIdx.x] = first;
}
