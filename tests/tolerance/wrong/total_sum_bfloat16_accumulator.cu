// task: total_sum
// @scratch partial float[1024]
// @launch chunks<<<8, 128>>>(x, partial, n)
// @launch finish<<<1, 1>>>(partial, y)
__device__ float rounded(float v) {  // to bfloat16, nearest
  unsigned bits = __float_as_uint(v);
  return __uint_as_float((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000u);
}
__global__ void chunks(const float* x, float* partial, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.0f;
  for (int j = t; j < n; j += 1024) acc = rounded(acc + x[j]);
  partial[t] = acc;
}
__global__ void finish(const float* partial, float* y) {
  float acc = 0.0f;
  for (int j = 0; j < 1024; j++) acc += partial[j];
  y[0] = acc;
}
