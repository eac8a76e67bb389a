// task: row_mean expect: wrong_result
// The mean of standard normal numbers is nearly 0.
// @launch kern<<<ceil_div(h, 64), 64>>>(out, h)
__global__ void kern(float* out, int h) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r < h) out[r] = 0.0f;
}
