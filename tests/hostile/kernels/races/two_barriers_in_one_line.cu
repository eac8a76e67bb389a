// task: row_sum expect: runtime_fault on-gpu: ok|timeout|runtime_fault
// Odd and even threads wait at two barriers that stand in one line.
// @launch kern<<<rows, 64>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[64];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) sum += x[blockIdx.x * cols + c];
  if (threadIdx.x & 1) { s[threadIdx.x] = sum; __syncthreads(); sum *= 2; } else { s[threadIdx.x] = sum; __syncthreads(); }
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 64; ++t) sum += s[t];
  y[blockIdx.x] = sum;
}
