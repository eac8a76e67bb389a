// task: row_sum expect: ok
// A tree whose rounds the compiler unrolls: copies of two barriers that stand in one line.
// @launch kern<<<rows, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  __shared__ float s[128];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 128) sum += x[blockIdx.x * cols + c];
  s[threadIdx.x] = sum;
  __syncthreads();
#pragma unroll
  for (int d = 64; d > 0; d /= 2) { if (threadIdx.x < d) sum += s[threadIdx.x + d]; __syncthreads(); s[threadIdx.x] = sum; __syncthreads(); if (threadIdx.x >= d) return; }
  y[blockIdx.x] = sum;
}
