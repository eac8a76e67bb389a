// task: scale expect: runtime_fault
// Eight bytes of which the second half lies behind the output.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, alpha, n)
__global__ void kern(const float* x, float* y, float alpha, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = alpha * x[i];
  if (i == n - 1 && n % 2 == 1) *(double*)(y + i) = __hiloint2double(0, __float_as_int(alpha * x[i]));
}
