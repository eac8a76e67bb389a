// task: rmsnorm_rows
// @launch normalise<<<R, 128>>>(inp, out, C)
__global__ void normalise(const float* inp, float* out, int C) {
  __shared__ float s[128];
  int t = threadIdx.x;
  const float* row = inp + blockIdx.x * C;
  float a = t < C ? row[t] : 0.0f;
  float b = t + 128 < C ? row[t + 128] : 0.0f;
  s[t] = a * a + b * b;
  __syncthreads();
  for (int d = 64; d > 0; d /= 2) {
    if (t < d) s[t] += s[t + d];
    __syncthreads();
  }
  float f = rsqrtf(s[0] / C + 1e-5f);
  if (t < C) out[blockIdx.x * C + t] = a * f;
  if (t + 128 < C) out[blockIdx.x * C + t + 128] = b * f;
}
