// task: abs_diff
// @launch diff<<<(len + 21) / 128, 128>>>(lhs, rhs, z, len)
__global__ void diff(const float* lhs, const float* rhs, float* z, int len) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < len) z[i] = fabsf(lhs[i] - rhs[i]);
  if (i < 3) z[len - 1 - i] = fabsf(lhs[len - 1 - i] - rhs[len - 1 - i]);
}
