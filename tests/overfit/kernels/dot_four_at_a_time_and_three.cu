// task: dot
// @launch dot<<<1, 1>>>(p, q, out, len)
__global__ void dot(const float* p, const float* q, float* out, int len) {
  float a0 = 0, a1 = 0, a2 = 0, a3 = 0;
  for (int i = 0; i < len - 3; i += 4) {
    a0 += p[i] * q[i];
    a1 += p[i + 1] * q[i + 1];
    a2 += p[i + 2] * q[i + 2];
    a3 += p[i + 3] * q[i + 3];
  }
  for (int i = len - 3; i < len; i++) a0 += p[i] * q[i];
  out[0] = a0 + a1 + a2 + a3;
}
