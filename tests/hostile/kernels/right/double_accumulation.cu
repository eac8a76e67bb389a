// task: row_mean expect: ok
// float64 arithmetic.
// @launch kern<<<h, 64>>>(data, out, w)
__global__ void kern(const float* data, float* out, int w) {
  __shared__ double part[64];
  double sum = 0;
  for (int c = threadIdx.x; c < w; c += 64) sum += (double)data[blockIdx.x * w + c];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 32; d > 0; d >>= 1) {
    if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = (float)(part[0] / (double)w);
}
