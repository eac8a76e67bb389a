// task: row_mean expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// The mean is read before the barrier that follows its computation.
// @launch kern<<<h, 64>>>(data, out, w)
__global__ void kern(const float* data, float* out, int w) {
  __shared__ float sums[2];
  __shared__ float mean;
  float sum = 0;
  for (int c = threadIdx.x; c < w; c += 64) sum += data[blockIdx.x * w + c];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) mean = (sums[0] + sums[1]) / w;
  if (threadIdx.x == 63) out[blockIdx.x] = mean;
  __syncthreads();
}
