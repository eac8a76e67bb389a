// task: layernorm_rows expect: runtime_fault on-gpu: runtime_fault|ok
// The mean is read from shared memory after the barrier that protects it, while thread 0 stores its
// part of the next sum there. A search on a GPU that did not see it kept this as its best kernel.
// @launch kern<<<rows, 128>>>(x, gamma, beta, y, rows, cols)
__global__ void kern(const float* x, const float* gamma, const float* beta, float* y, int rows, int cols) {
  __shared__ float sh[128];
  int r = blockIdx.x;
  float m0 = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 128) m0 += x[r * cols + j];
  sh[threadIdx.x] = m0;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if ( threadIdx.x < d) sh[threadIdx.x] += sh[threadIdx.x + d];
    __syncthreads();
  }
  m0 = sh[0];
  __syncthreads();
  float mean = sh[0] / cols;
  float m1 = 0.0f;
  for (int j = threadIdx.x; j < cols; j += 128) m1 += (x[r * cols + j] - mean) * (x[r * cols + j] - mean);
  sh[threadIdx.x] = m1;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (threadIdx.x < d) sh[threadIdx.x] += sh[threadIdx.x + d];
    __syncthreads();
  }
  m1 = sh[0];
  __syncthreads();
  float f = rsqrtf(m1 / cols + 1e-5f);
  for (int j = threadIdx.x; j < cols; j += 128) y[r * cols + j] = (x[r * cols + j] - mean) * f * gamma[j] + beta[j];
}
