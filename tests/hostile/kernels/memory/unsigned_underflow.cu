// task: stencil_1d expect: runtime_fault
// An unsigned index that becomes 4294967295.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, n)
__global__ void kern(const float* x, float* y, unsigned n) {
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const float left = x[(size_t)(unsigned)(i - 1)];
  y[i] = ((i > 0 ? left : 0.0f) + x[i] + (i + 1 < n ? x[i + 1] : 0.0f)) / 3.0f;
}
