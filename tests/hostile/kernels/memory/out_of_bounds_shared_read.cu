// task: row_sum expect: runtime_fault on-gpu: ok|runtime_fault|wrong_result
// A tree reduction that reads behind its shared array.
// @launch kern<<<rows, 48>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[48];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 48) sum += x[blockIdx.x * cols + c];
  s[threadIdx.x] = sum;
  for (int d = 32; d > 0; d /= 2) {
    __syncthreads();
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
  }
  if (threadIdx.x == 0) y[blockIdx.x] = s[0];
}
