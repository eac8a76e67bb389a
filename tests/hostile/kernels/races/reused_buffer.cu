// task: softmax_rows expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// One array for two reductions, without a barrier between the last read of the first and the second's store.
// @launch kern<<<rows, 64>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[2];
  const float* row = x + blockIdx.x * cols;
  float top = -INFINITY, sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) top = fmaxf(top, row[c]);
  for (int d = 16; d > 0; d /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
  s[threadIdx.x / 32] = top;
  __syncthreads();
  top = fmaxf(s[0], s[1]);
  for (int c = threadIdx.x; c < cols; c += 64) sum += expf(row[c] - top);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  s[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = s[0] + s[1];
  for (int c = threadIdx.x; c < cols; c += 64) y[blockIdx.x * cols + c] = expf(row[c] - top) / sum;
}
