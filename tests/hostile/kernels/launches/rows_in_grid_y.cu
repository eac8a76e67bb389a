// task: rope expect: launch_error on-gpu: launch_error|ok
// A row for each block along y, of which there can be 65,535: at the real size there are more.
// @launch kern<<<dim3(ceil_div(half, 32), rows), 32>>>(x, co, si, y, half)
__global__ void kern(const float* x, const float* co, const float* si, float* y, int half) {
  const int j = blockIdx.x * 32 + threadIdx.x, at = blockIdx.y * 2 * half + j;
  if (j >= half) return;
  const float left = x[at], right = x[at + half];
  y[at] = left * co[blockIdx.y * half + j] - right * si[blockIdx.y * half + j];
  y[at + half] = left * si[blockIdx.y * half + j] + right * co[blockIdx.y * half + j];
}
