// task: total_sum expect: ok
// cuda::barrier of device scope in global memory, one thread of each block arrives and waits.
// @scratch part float[8]
// @launch clear<<<1, 1>>>()
// @launch kern<<<8, 64>>>(x, part, y, n)
#include <cuda/barrier>
#include <cuda/std/barrier>
__device__ char room[sizeof(cuda::barrier<cuda::thread_scope_device>)] __attribute__((aligned(64)));
__device__ cuda::barrier<cuda::thread_scope_device>* all() { return reinterpret_cast<cuda::barrier<cuda::thread_scope_device>*>(room); }
__global__ void clear() { init(all(), 8); }
__global__ void kern(const float* x, float* part, float* y, int n) {
  __shared__ float s[64];
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 512) sum += x[i];
  s[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x) return;
  for (int k = 1; k < 64; k++) sum += s[k];
  part[blockIdx.x] = sum;
  all()->arrive_and_wait();
  if (blockIdx.x) return;
  sum = 0;
  for (int k = 0; k < 8; k++) sum += part[k];
  *y = sum;
}
