// task: stencil_1d expect: runtime_fault|wrong_result on-gpu: runtime_fault|wrong_result|nondeterministic|flagged
// Copies, then works in place, so that neighbours may be old or new.
// @launch copy<<<ceil_div(n, 128), 128>>>(x, y, n)
// @launch kern<<<ceil_div(n, 128), 128>>>(y, n)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
__global__ void kern(float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const float left = i > 0 ? y[i - 1] : 0, right = i + 1 < n ? y[i + 1] : 0;
  y[i] = (left + y[i] + right) / 3.0f;
}
