// emulate: --launch 'layernorm<<<4, 64>>>(x, gamma, beta, y, 64)' --buffer x=f32[4,64]:5 --buffer gamma=f32[64]:ones
// emulate: --buffer beta=f32[64]:arange --buffer y=f32[4,64]
// holds: y = 0 1 2 3 4 5 6 7
// A constant row has no variance, so only beta is left.
__global__ void layernorm(const float* x, const float* gamma, const float* beta, float* y, int n) {
  __shared__ float mean, variance;
  if (threadIdx.x == 0) {
    mean = variance = 0;
  }
  __syncthreads();
  float v = x[blockIdx.x * n + threadIdx.x];
  atomicAdd(&mean, v / n);
  __syncthreads();
  float d = v - mean;
  atomicAdd(&variance, d * d / n);
  __syncthreads();
  y[blockIdx.x * n + threadIdx.x] = d * rsqrtf(variance + 1e-5f) * gamma[threadIdx.x] + beta[threadIdx.x];
}
