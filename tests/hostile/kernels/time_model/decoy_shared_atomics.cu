// task: row_sum expect: ok max-speedup: 1.6
// The work of a row by one lane; a second warp does useless shared atomics, as if those were the slow part.
// @launch kern<<<rows, 64>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ int useless[32];
  if (threadIdx.x < 32) useless[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    float sum = 0;
    for (int c = 0; c < cols; ++c) sum += x[blockIdx.x * cols + c];
    y[blockIdx.x] = sum;
  } else if (threadIdx.x >= 32) {
    for (int k = 0; k < cols; ++k) atomicAdd(&useless[threadIdx.x - 32], 1);
  }
}
