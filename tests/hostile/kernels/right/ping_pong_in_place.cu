// task: axpy_inplace expect: ok
// In place through a restrict pointer and a copy of the pointer.
// @launch kern<<<ceil_div(n, 2 * 128), 128>>>(x, y, alpha, n)
__global__ void kern(const float* __restrict__ x, float* __restrict__ y, float alpha, int n) {
  const int i = blockIdx.x * 256 + threadIdx.x;
  float* const mine = y + i;
  float first = 0, second = 0;
  if (i < n) first = mine[0];
  if (i + 128 < n) second = mine[128];
  if (i < n) mine[0] = alpha * x[i] + first;
  if (i + 128 < n) mine[128] = alpha * x[i + 128] + second;
}
