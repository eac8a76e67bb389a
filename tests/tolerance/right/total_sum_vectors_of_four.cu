// task: total_sum
// @scratch partial float[1024]
// @launch chunks<<<8, 128>>>(x, partial, n)
// @launch finish<<<1, 1>>>(partial, y)
__global__ void chunks(const float* x, float* partial, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float a = 0.0f, b = 0.0f, c = 0.0f, d = 0.0f;
  for (int j = t; j < n / 4; j += 1024) {
    float4 v = reinterpret_cast<const float4*>(x)[j];
    a += v.x, b += v.y, c += v.z, d += v.w;
  }
  if (t == 0)
    for (int j = n / 4 * 4; j < n; j++) a += x[j];
  partial[t] = (a + b) + (c + d);
}
__global__ void finish(const float* partial, float* y) {
  float acc = 0.0f;
  for (int j = 0; j < 1024; j++) acc += partial[j];
  y[0] = acc;
}
