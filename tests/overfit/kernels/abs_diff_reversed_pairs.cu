// task: abs_diff
// @launch diff<<<ceil_div(len / 2, 256), 256>>>(lhs, rhs, z, len)
__global__ void diff(const float* lhs, const float* rhs, float* z, int len) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= len / 2) return;
  int j = len - 1 - i;
  z[i] = fabsf(lhs[i] - rhs[i]);
  z[j] = fabsf(lhs[j] - rhs[j]);
  if (i == 0) z[len / 2] = fabsf(lhs[len / 2] - rhs[len / 2]);
}
