// task: row_sum expect: runtime_fault|wrong_result|nondeterministic|timeout on-gpu: runtime_fault|timeout|wrong_result|ok|nondeterministic
// Lanes shuffle under a mask in which they are not.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0x0000ffffu, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
