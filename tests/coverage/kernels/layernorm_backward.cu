// The gradient of layer normalisation: dx by rows, dgamma and dbeta by atomics.
__global__ void layernorm_backward(const float* dy, const float* x, const float* gamma, const float* mean, const float* rstd, float* dx, float* dgamma, float* dbeta, int cols) {
  __shared__ float2 partial[8];
  const int row = blockIdx.x;
  float a = 0, b = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float xh = (x[row * cols + c] - mean[row]) * rstd[row], g = dy[row * cols + c] * gamma[c];
    a += g;
    b += g * xh;
    atomicAdd(dgamma + c, dy[row * cols + c] * xh);
    atomicAdd(dbeta + c, dy[row * cols + c]);
  }
  for (int o = 16; o > 0; o >>= 1) a += __shfl_xor_sync(~0u, a, o), b += __shfl_xor_sync(~0u, b, o);
  if ((threadIdx.x & 31) == 0) partial[threadIdx.x >> 5] = make_float2(a, b);
  __syncthreads();
  a = b = 0;
  for (int w = 0; w < blockDim.x / 32; ++w) a += partial[w].x, b += partial[w].y;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float xh = (x[row * cols + c] - mean[row]) * rstd[row];
    dx[row * cols + c] = rstd[row] * (dy[row * cols + c] * gamma[c] - (a + xh * b) / cols);
  }
}
