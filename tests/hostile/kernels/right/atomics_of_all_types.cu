// task: total_sum expect: ok
// atomicAdd of float, double, half2, unsigned long long, and of float with _block and _system.
// @scratch d float[8]
// @launch clear<<<1, 8>>>(d)
// @launch kern<<<8, 64>>>(x, d, n)
// @launch end<<<1, 1>>>(d, y)
#include <cuda_fp16.h>
__global__ void clear(float* d) { d[threadIdx.x] = 0; }
__global__ void kern(const float* x, float* d, int n) {
  __shared__ float mine;
  __shared__ unsigned long long count;
  if (threadIdx.x == 0) mine = 0, count = 0;
  __syncthreads();
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 512) {
    atomicAdd_block(&mine, x[i]);
    atomicAdd(&count, 1ull);
  }
  atomicAdd((__half2*)&d[2], __floats2half2_rn(1.0f, 0.0f));
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd((double*)&d[4], (double)mine);
    atomicAdd_system(&d[6], (float)count);
  }
}
__global__ void end(const float* d, float* y) {
  const float threads = __low2float(*(const __half2*)&d[2]);
  *y = threads == 512.0f && d[6] > 0 ? (float)*(const double*)&d[4] : NAN;
}
