// Row softmax by a block with dynamic shared memory.
__global__ void softmax_block(const float* x, float* y, int cols) {
  extern __shared__ float row[];
  __shared__ float red[32];
  const float* in = x + (size_t)blockIdx.x * cols;
  float top = -3.402823466e+38f;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) top = fmaxf(top, row[c] = in[c]);
  for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = top;
  __syncthreads();
  top = red[threadIdx.x % (blockDim.x / 32)];
  for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o));
  __syncthreads();
  float sum = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) sum += row[c] = exp2f((row[c] - top) * 1.4426950408889634f);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) sum += red[w];
  for (int c = threadIdx.x; c < cols; c += blockDim.x) y[(size_t)blockIdx.x * cols + c] = __fdividef(row[c], sum);
}
