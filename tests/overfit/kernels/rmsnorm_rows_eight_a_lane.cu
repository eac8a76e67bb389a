// task: rmsnorm_rows
// @launch normalise<<<ceil_div(R, 4), dim3(32, 4)>>>(inp, out, R, C)
__global__ void normalise(const float* inp, float* out, int R, int C) {
  int r = blockIdx.x * 4 + threadIdx.y;
  if (r >= R) return;
  float acc = 0.0f;
  for (int j = threadIdx.x; j < C; j += 32) acc += inp[r * C + j] * inp[r * C + j];
  for (int d = 16; d > 0; d /= 2) acc += __shfl_xor_sync(0xffffffff, acc, d);
  float f = rsqrtf(acc / C + 1e-5f);
  for (int k = 0; k < 8; k++) {
    int j = threadIdx.x + 32 * k;
    if (j < C) out[r * C + j] = inp[r * C + j] * f;
  }
}
