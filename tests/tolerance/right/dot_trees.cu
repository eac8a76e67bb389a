// task: dot
// @scratch partial float[64]
// @launch blocks<<<64, 256>>>(p, q, partial, len)
// @launch finish<<<1, 32>>>(partial, out)
__global__ void blocks(const float* p, const float* q, float* partial, int len) {
  __shared__ float sums[256];
  float acc = 0.0f;
  for (int j = blockIdx.x * 256 + threadIdx.x; j < len; j += 64 * 256) acc += p[j] * q[j];
  sums[threadIdx.x] = acc;
  __syncthreads();
  for (int s = 128; s > 0; s /= 2) {
    if (threadIdx.x < s) sums[threadIdx.x] += sums[threadIdx.x + s];
    __syncthreads();
  }
  if (threadIdx.x == 0) partial[blockIdx.x] = sums[0];
}
__global__ void finish(const float* partial, float* out) {
  float acc = partial[threadIdx.x] + partial[threadIdx.x + 32];
  for (int s = 16; s > 0; s /= 2) acc += __shfl_down_sync(~0u, acc, s);
  if (threadIdx.x == 0) out[0] = acc;
}
