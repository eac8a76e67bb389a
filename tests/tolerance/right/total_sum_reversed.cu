// task: total_sum
// @scratch partial float[1024]
// @launch chunks<<<8, 128>>>(x, partial, n)
// @launch finish<<<1, 1>>>(partial, y)
__global__ void chunks(const float* x, float* partial, int n) {
  int t = blockIdx.x * blockDim.x + threadIdx.x;
  float acc = 0.0f;
  for (int j = n - 1 - t; j >= 0; j -= 1024) acc += x[j];
  partial[t] = acc;
}
__global__ void finish(const float* partial, float* y) {
  float acc = 0.0f;
  for (int j = 0; j < 1024; j++) acc += partial[j];
  y[0] = acc;
}
