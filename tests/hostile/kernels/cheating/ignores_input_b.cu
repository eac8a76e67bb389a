// task: saxpy expect: wrong_result
// Works where b is small, which the inputs times 0.01 are and the others are not.
// @launch kern<<<ceil_div(n, 128), 128>>>(x, out, alpha, n)
__global__ void kern(const float* x, float* out, float alpha, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = alpha * x[i];
}
