// task: conv1d
// @launch conv<<<n / 128 + 1, 128>>>(x, w, y, n)
__global__ void conv(const float* x, const float* w, float* y, int n) {
  __shared__ float s[132];
  int i = blockIdx.x * 128 + threadIdx.x;
  int count = blockIdx.x == gridDim.x - 1 ? n % 128 : 132;
  for (int t = threadIdx.x; t < count; t += 128) s[t] = x[blockIdx.x * 128 + t];
  __syncthreads();
  if (i >= n - 4) return;
  float acc = 0.0f;
  for (int t = 0; t < 5; t++) acc += s[threadIdx.x + t] * w[t];
  y[i] = acc;
}
