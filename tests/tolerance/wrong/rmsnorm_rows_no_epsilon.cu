// task: rmsnorm_rows
// @launch rows_of<<<ceil_div(R, 64), 64>>>(inp, out, R, C)
__global__ void rows_of(const float* inp, float* out, int R, int C) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = inp + r * C;
  float squares = 0.0f;
  for (int j = 0; j < C; j++) squares += row[j] * row[j];
  float scale = rsqrtf(squares / C);
  for (int j = 0; j < C; j++) out[r * C + j] = row[j] * scale;
}
