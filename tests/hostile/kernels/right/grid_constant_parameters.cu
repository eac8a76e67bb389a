// task: scale expect: ok
// Parameters that are __grid_constant__: PTX has bytes in place of their types.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, alpha, n)
__global__ void kern(const float* const __grid_constant__ x, float* y,
                     const __grid_constant__ float alpha, const __grid_constant__ int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = alpha * x[i];
}
