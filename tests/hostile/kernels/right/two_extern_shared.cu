// task: row_sum expect: ok
// Two extern __shared__ arrays of different types: the same memory.
// @launch kern<<<rows, 32, 128>>>(x, y, cols)
__global__ void kern(const float* x, float* y, int cols) {
  extern __shared__ float floats[];
  extern __shared__ int ints[];
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += 32) sum += x[blockIdx.x * cols + c];
  floats[threadIdx.x] = sum;
  __syncwarp();
  if (threadIdx.x == 0) {
    float total = 0;
    for (int t = 0; t < 32; ++t) total += __int_as_float(ints[t]);
    y[blockIdx.x] = total;
  }
}
