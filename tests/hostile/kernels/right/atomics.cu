// task: total_sum expect: ok
// @launch clear<<<1, 1>>>(y)
// @launch add<<<ceil_div(n, 128), 128>>>(x, y, n)
__global__ void clear(float* y) { *y = 0; }
__global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(y, x[i]);
}
