// task: row_sum expect: runtime_fault|timeout|wrong_result on-gpu: runtime_fault|timeout|wrong_result|ok|nondeterministic
// The mask names lanes that never come to the shuffle.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
  if (threadIdx.x < 16) {
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(0xffffffffu, sum, d);
    if (threadIdx.x == 0) y[blockIdx.x] = sum;
  } else {
    while (*(volatile float*)&y[blockIdx.x] == 1.2345e30f) {}
  }
}
