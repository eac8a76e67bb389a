// task: rmsnorm_rows
// @launch rows_of<<<R, 32>>>(inp, out, C)
__device__ float sum_of_warp(float v) {
  for (int s = 16; s > 0; s /= 2) v += __shfl_xor_sync(~0u, v, s);
  return v;
}
__global__ void rows_of(const float* inp, float* out, int C) {
  int r = blockIdx.x, lane = threadIdx.x;
  const float* row = inp + r * C;
  float squares = 0.0f;
  for (int j = lane; j < C; j += 32) squares = fmaf(row[j], row[j], squares);
  float scale = rsqrtf(sum_of_warp(squares) / C + 1e-5f);
  for (int j = lane; j < C; j += 32) out[r * C + j] = row[j] * scale;
}
