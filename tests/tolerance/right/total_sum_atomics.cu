// task: total_sum
// @launch clear<<<1, 1>>>(y)
// @launch add<<<ceil_div(n, 256), 256>>>(x, y, n)
__global__ void clear(float* y) { y[0] = 0.0f; }
__global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y, x[i]);
}
