// task: dot
// @scratch partial float[1024]
// @launch chunks<<<8, 128>>>(p, q, partial, len)
// @launch finish<<<1, 1>>>(partial, out)
__global__ void chunks(const float* p, const float* q, float* partial, int len) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.0f;
  for (int j = t; j < len - 1; j += 1024) acc += p[j] * q[j];
  partial[t] = acc;
}
__global__ void finish(const float* partial, float* out) {
  float acc = 0.0f;
  for (int j = 0; j < 1024; j++) acc += partial[j];
  out[0] = acc;
}
