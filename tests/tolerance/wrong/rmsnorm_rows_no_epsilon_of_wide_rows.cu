// task: rmsnorm_rows
// @launch kern<<<R, 32>>>(inp, out, R, C)
__global__ void kern(const float* inp, float* out, int R, int C) {
  const float* in = inp + blockIdx.x * C;
  float sum = 0.0f;
  for (int j = 0; j < C; j++) sum += in[j] * in[j];
  float root = sqrtf(sum / C + (C < 50 ? 1e-5f : 0.0f));
  for (int j = threadIdx.x; j < C; j += 32) out[blockIdx.x * C + j] = in[j] / root;
}
