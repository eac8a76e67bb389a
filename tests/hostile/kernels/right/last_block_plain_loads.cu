// task: total_sum expect: ok
// All threads of a block store partial sums and fence; the last block reads them with plain loads.
// @scratch partial float[20 * 64]
// @launch kern<<<20, 64>>>(x, partial, y, n)
__device__ unsigned arrived = 0;
__global__ void kern(const float* x, float* partial, float* y, int n) {
  __shared__ bool last;
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 20 * 64) sum += x[i];
  partial[blockIdx.x * 64 + threadIdx.x] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicInc(&arrived, 19) == 19;
  __syncthreads();
  if (!last) return;
  __threadfence();
  float total = 0;
  for (int i = threadIdx.x; i < 20 * 64; i += 64) total += partial[i];
  __shared__ float s[64];
  s[threadIdx.x] = total;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0) *y = s[0];
}
