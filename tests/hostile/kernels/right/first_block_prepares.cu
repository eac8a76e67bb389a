// task: total_sum expect: ok
// The block that comes first clears the total and says so; the others wait for that.
// @scratch state int[2]
// @launch clear<<<1, 2>>>(state)
// @launch kern<<<16, 64>>>(x, state, y, n)
__global__ void clear(int* state) { state[threadIdx.x] = 0; }
__global__ void kern(const float* x, int* state, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 64 + threadIdx.x; i < n; i += 1024) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x == 0) {
    if (atomicAdd(&state[0], 1) == 0) {
      *y = 0;
      __threadfence();
      atomicExch(&state[1], 1);
    }
    while (atomicAdd(&state[1], 0) == 0) {}
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) atomicAdd(y, sum);
}
