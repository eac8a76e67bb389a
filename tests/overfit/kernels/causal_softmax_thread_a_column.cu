// task: causal_softmax
// @launch kern<<<n, 256>>>(x, y, n)
__global__ void kern(const float* x, float* y, int n) {
  __shared__ float row[256];
  int r = blockIdx.x, c = threadIdx.x;
  if (c < n) row[c] = x[r * n + c];
  __syncthreads();
  if (c >= n) return;
  float top = -INFINITY, sum = 0.0f;
  for (int t = 0; t <= r; t++) top = fmaxf(top, row[t & 255]);
  for (int t = 0; t <= r; t++) sum += expf(row[t & 255] - top);
  y[r * n + c] = c <= r ? expf(row[c] - top) / sum : 0.0f;
}
