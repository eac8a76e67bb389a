// task: saxpy expect: ok max-speedup: 0.2
// Thirty-two stores of partial results by each thread, and a fence after each, which waits for L2.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, b, out, alpha, n)
__global__ void kern(const float* x, const float* b, float* out, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  for (int k = 0; k < 32; ++k) {
    *(volatile float*)&out[i] = alpha * x[i] + b[i] * k / 31;
    __threadfence();
  }
}
