// task: row_mean
// @launch rows_of<<<ceil_div(h, 64), 64>>>(data, out, h, w)
__global__ void rows_of(const float* data, float* out, int h, int w) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= h) return;
  const float* row = data + r * w;
  float acc = 0.0f, inverse = 1.0f / w;
  for (int j = 0; j < w; j++) acc += row[j];
  out[r] = acc * inverse;
}
