// task: row_sum expect: ok min-speedup: 0.5
// Two blocks that follow each other in the grid take a row together: each waits for the other's half.
// @scratch halves float[2 * rows]
// @scratch ready int[2 * rows]
// @launch clear<<<ceil_div(2 * rows, 128), 128>>>(ready, 2 * rows)
// @launch kern<<<2 * rows, 32>>>(x, y, halves, ready, cols)
__global__ void clear(int* ready, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < size) ready[i] = 0;
}
__global__ void kern(const float* x, float* y, float* halves, int* ready, int cols) {
  const int row = blockIdx.x / 2, half = blockIdx.x % 2;
  float sum = 0;
  for (int c = half * 32 + threadIdx.x; c < cols; c += 64) sum += x[row * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (threadIdx.x != 0) return;
  ((volatile float*)halves)[blockIdx.x] = sum;
  __threadfence();
  atomicExch(&ready[blockIdx.x], 1);
  while (atomicOr(&ready[blockIdx.x ^ 1], 0) == 0) {}
  __threadfence();
  sum += ((volatile float*)halves)[blockIdx.x ^ 1];
  if (half == 0) y[row] = sum;
}
