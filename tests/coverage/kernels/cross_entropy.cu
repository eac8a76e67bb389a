// Cross entropy with label smoothing, ignored labels and its gradient.
__global__ void cross_entropy(const float* logits, const long long* labels, float* loss, float* grad, int classes, float smoothing, long long ignore) {
  __shared__ float red[64];
  const float* row = logits + (size_t)blockIdx.x * classes;
  const long long label = labels[blockIdx.x];
  float top = -INFINITY, sum = 0, all = 0;
  for (int c = threadIdx.x; c < classes; c += blockDim.x) top = fmaxf(top, row[c]), all += row[c];
  for (int o = 16; o; o >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, o)), all += __shfl_xor_sync(~0u, all, o);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = top, red[32 + threadIdx.x / 32] = all;
  __syncthreads();
  all = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) top = fmaxf(top, red[w]), all += red[32 + w];
  __syncthreads();
  for (int c = threadIdx.x; c < classes; c += blockDim.x) sum += expf(row[c] - top);
  for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
  if (threadIdx.x % 32 == 0) red[threadIdx.x / 32] = sum;
  __syncthreads();
  sum = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) sum += red[w];
  const float lse = top + logf(sum);
  if (threadIdx.x == 0) loss[blockIdx.x] = label == ignore ? 0.f : lse - (1 - smoothing) * row[label] - smoothing * all / classes;
  for (int c = threadIdx.x; c < classes; c += blockDim.x)
    grad[(size_t)blockIdx.x * classes + c] = label == ignore ? 0.f : expf(row[c] - lse) - (c == label) * (1 - smoothing) - smoothing / classes;
}
