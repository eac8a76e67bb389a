// task: layernorm_rows expect: ok
// One block of dynamic shared memory cut into arrays of several types.
// @launch kern<<<rows, 64, 4 * cols + 8 * 64 + 4 * 4>>>(x, gamma, beta, y, cols)
__global__ void kern(const float* x, const float* gamma, const float* beta, float* y, int cols) {
  extern __shared__ __align__(16) unsigned char memory[];
  double* sums = (double*)memory;
  float* row = (float*)(sums + 64);
  int* done = (int*)(row + cols);
  if (threadIdx.x < 4) done[threadIdx.x] = 0;
  double sum = 0;
  for (int c = threadIdx.x; c < cols; c += 64) sum += row[c] = x[blockIdx.x * cols + c];
  sums[threadIdx.x] = sum;
  __syncthreads();
  double mean = 0, var = 0;
  for (int t = 0; t < 64; ++t) mean += sums[t];
  mean /= cols;
  for (int c = 0; c < cols; ++c) var += (row[c] - mean) * (row[c] - mean);
  const float f = (float)(1.0 / sqrt(var / cols + 1e-5));
  for (int c = threadIdx.x; c < cols; c += 64)
    y[blockIdx.x * cols + c] = (float)(row[c] - mean) * f * gamma[c] + beta[c] + done[c & 3];
}
