// task: row_mean expect: ok max-speedup: 0.5
// Every element is divided in double, which is a subroutine on a unit of two lanes.
// @launch kern<<<ceil_div(h, 128), 128>>>(data, out, h, w)
__global__ void kern(const float* data, float* out, int h, int w) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= h) return;
  double sum = 0;
  for (int j = 0; j < w; ++j) sum += (double)data[r * w + j] / w;
  out[r] = (float)sum;
}
