// task: row_sum expect: runtime_fault on-gpu: ok|runtime_fault|wrong_result
// The launch asks for half of the shared memory that the kernel uses.
// @launch kern<<<rows, 64, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  extern __shared__ float s[];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) sum += x[blockIdx.x * cols + c];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int t = 1; t < 64; ++t) sum += s[t];
    y[blockIdx.x] = sum;
  }
}
