// task: axpy_inplace expect: ok
// Control flow by goto only.
// @launch kern<<<2, 64>>>(x, y, alpha, n)
__global__ void kern(const float* x, float* y, float alpha, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
test:
  if (i < n) goto work;
  goto end;
work:
  y[i] = fmaf(alpha, x[i], y[i]);
  i += gridDim.x * blockDim.x;
  goto test;
end:
  return;
}
