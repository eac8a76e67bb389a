// task: row_sum expect: runtime_fault|wrong_result on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// __syncwarp where warps read each other's values.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[128];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) sum += x[blockIdx.x * cols + c];
  s[threadIdx.x] = sum;
  __syncwarp();
  if (threadIdx.x == 0) {
    for (int t = 1; t < 128; ++t) sum += s[t];
    y[blockIdx.x] = sum;
  }
}
