// task: row_sum expect: ok
// One pointer that is to shared memory in some lanes and to global memory in others.
// @launch kern<<<rows, 32>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float copy[32];
  const float* row = x + blockIdx.x * cols;
  float sum = 0;
  for (int base = 0; base < cols; base += 32) {
    const int c = base + threadIdx.x;
    __syncwarp();
    copy[threadIdx.x] = c < cols ? row[c] : 0;
    __syncwarp();
    const float* from = threadIdx.x % 2 || c >= cols ? &copy[threadIdx.x] : row + c;
    sum += *from;
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) y[blockIdx.x] = sum;
}
