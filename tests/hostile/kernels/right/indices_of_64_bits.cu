// task: saxpy expect: ok
// 64-bit indices, size_t, ptrdiff_t, and a pointer that walks backwards.
// @launch kern<<<5, 96>>>(x, b, out, alpha, n)
__global__ void kern(const float* x, const float* b, float* out, float alpha, long long n) {
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (ptrdiff_t i = n - 1 - (ptrdiff_t)((size_t)blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= (ptrdiff_t)stride)
    out[i] = alpha * x[i] + b[i];
}
