// task: row_sum expect: runtime_fault on-gpu: ok|timeout|runtime_fault
// Half of each warp has one barrier more than the others.
// @launch kern<<<rows, 64>>>(x, y, cols)
#define MEET if (threadIdx.x % 32 < 16) __syncthreads(); __syncthreads()
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[64];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) sum += x[blockIdx.x * cols + c];
  s[threadIdx.x] = sum;
  MEET;
  if (threadIdx.x != 0) return;
  for (int t = 1; t < 64; ++t) sum += s[t];
  y[blockIdx.x] = sum;
}
