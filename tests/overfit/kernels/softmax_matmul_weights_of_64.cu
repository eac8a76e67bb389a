// task: softmax_matmul
// @launch attend<<<m, 32>>>(s, v, y, n, k)
__global__ void attend(const float* s, const float* v, float* y, int n, int k) {
  __shared__ float w[64];
  const float* row = s + blockIdx.x * k;
  float top = -INFINITY, sum = 0.0f;
  for (int e = 0; e < k; e++) top = fmaxf(top, row[e]);
  for (int e = 0; e < k; e++) sum += expf(row[e] - top);
  for (int e = threadIdx.x; e < k; e += 32) w[e] = expf(row[e] - top) / sum;
  __syncthreads();
  if (threadIdx.x >= n) return;
  float acc = 0.0f;
  for (int e = 0; e < k; e++) acc += w[e] * v[e * n + threadIdx.x];
  y[blockIdx.x * n + threadIdx.x] = acc;
}
