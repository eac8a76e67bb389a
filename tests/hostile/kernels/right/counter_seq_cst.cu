// task: total_sum expect: ok
// The last block by an increment of cuda::atomic, which is sequentially consistent.
// @scratch part float[12]
// @launch clear<<<1, 1>>>()
// @launch kern<<<12, 96>>>(x, part, y, n)
#include <cuda/atomic>
__device__ cuda::atomic<int, cuda::thread_scope_device> arrived;
__global__ void clear() { arrived.store(0); }
__global__ void kern(const float* x, float* part, float* y, int n) {
  __shared__ float s[96]; __shared__ bool last;
  float v = 0;
  for (int i = blockIdx.x * 96 + threadIdx.x; i < n; i += 12 * 96) v += x[i];
  s[threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.x == 0) { for (int k = 1; k < 96; k++) v += s[k]; part[blockIdx.x] = v; last = ++arrived == 12; }
  __syncthreads();
  if (last && threadIdx.x == 64) { v = 0; for (int b = 0; b < 12; b++) v += part[b]; *y = v; }
}
