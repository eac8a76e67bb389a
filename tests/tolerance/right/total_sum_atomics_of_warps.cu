// task: total_sum
// @launch clear<<<1, 1>>>(y)
// @launch add<<<ceil_div(n, 256), 256>>>(x, y, n)
__global__ void clear(float* y) { y[0] = 0.0f; }
__global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
