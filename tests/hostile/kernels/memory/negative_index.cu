// task: stencil_1d expect: runtime_fault on-gpu: wrong_result|runtime_fault|nondeterministic
// The halo of the first element, without its test.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = (x[i - 1] + x[i] + (i + 1 < n ? x[i + 1] : 0.0f)) / 3.0f;
}
