// task: softmax_matmul
// @launch cells<<<dim3(ceil_div(n, 16), ceil_div(m, 8)), dim3(16, 8)>>>(s, v, y, m, n, k)
#include <cuda_fp16.h>
__device__ float rounded(float v) { return __half2float(__float2half(v)); }
__global__ void cells(const float* s, const float* v, float* y, int m, int n, int k) {
  int r = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= m || j >= n) return;
  const float* row = s + r * k;
  float top = -INFINITY, sum = 0.0f, acc = 0.0f;
  for (int e = 0; e < k; e++) top = fmaxf(top, row[e]);
  for (int e = 0; e < k; e++) {
    float weight = rounded(expf(row[e] - top));
    sum += weight;
    acc += weight * v[e * n + j];
  }
  y[r * n + j] = acc / sum;
}
