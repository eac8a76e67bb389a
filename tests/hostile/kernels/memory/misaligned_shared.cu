// task: row_sum expect: runtime_fault
// A double in shared memory at an address of four bytes.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[66];
  double sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
  *(volatile double*)(s + 1 + 2 * threadIdx.x) = sum;
  __syncwarp();
  if (threadIdx.x == 0) {
    for (int t = 1; t < 32; ++t) sum += *(volatile double*)(s + 1 + 2 * t);
    y[blockIdx.x] = (float)sum;
  }
}
