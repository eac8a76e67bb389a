// task: scale expect: ok
// Volatile local variables: every access goes to memory.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, alpha, n)
__global__ void kern(const float* x, float* y, float alpha, int n) {
  volatile float kept[2];
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  kept[0] = x[i];
  kept[1] = kept[0] * alpha;
  y[i] = kept[1];
}
