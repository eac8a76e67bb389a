// task: total_sum expect: timeout on-gpu: ok|timeout
// Each block waits for the sum of the one after it, with backoff: more blocks than the modelled GPU holds, and those that
// are resident wait for one that is not.
// @scratch sums float[300]
// @scratch ready int[300]
// @launch clear<<<1, 300>>>(ready)
// @launch kern<<<300, 64>>>(x, y, sums, ready, n)
__global__ void clear(int* ready) { ready[threadIdx.x] = 0; }
__global__ void kern(const float* x, float* y, float* sums, int* ready, int n) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = blockIdx.x; i < n; i += gridDim.x) sum += x[i];
  if (blockIdx.x + 1 < gridDim.x) {
    unsigned wait = 8;
    while (atomicAdd(&ready[blockIdx.x + 1], 0) == 0) {
      __nanosleep(wait);
      wait = min(2 * wait, 1000u);
    }
    __threadfence();
    sum += *(volatile float*)&sums[blockIdx.x + 1];
  }
  *(volatile float*)&sums[blockIdx.x] = sum;
  __threadfence();
  atomicExch(&ready[blockIdx.x], 1);
  if (blockIdx.x == 0) *y = sum;
}
