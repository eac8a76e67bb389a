// task: scale expect: ok min-speedup: 0.19 max-speedup: 0.6
// The last of many short blocks is a long one: a GPU executes it once, not once in every wave.
// @launch kern<<<ceil_div(n, 32), 32>>>(x, y, alpha, n)
__global__ void kern(const float* x, float* y, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float value = x[i];
  if (blockIdx.x == gridDim.x - 1)
    for (int k = 0; k < 500; ++k) value = value * alpha + 1;
  y[i] = value == 12345.678f ? value : alpha * x[i];
}
