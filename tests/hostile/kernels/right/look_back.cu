// task: prefix_sum expect: ok
// Decoupled look-back: a block publishes its aggregate with a flag, later blocks wait for earlier ones. The number
// of a block is drawn by an atomic, so that a block waits only for blocks that run.
// @scratch state int[3 * ceil_div(n, 128) + 1]
// @launch clear<<<ceil_div(state.size, 128), 128>>>(state, state.size)
// @launch kern<<<ceil_div(n, 128), 128>>>(x, y, state, n)
__global__ void clear(int* state, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < size) state[i] = 0;
}
__global__ void kern(const float* x, float* y, int* state, int n) {
  __shared__ float s[128];
  __shared__ int number;
  __shared__ float before;
  if (threadIdx.x == 0) number = atomicAdd(state, 1);
  __syncthreads();
  const int tile = number, i = tile * 128 + threadIdx.x;
  volatile int* flags = state + 1;
  volatile float* aggregates = (volatile float*)(state + 1 + gridDim.x);
  volatile float* prefixes = (volatile float*)(state + 1 + 2 * gridDim.x);
  s[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (int d = 1; d < 128; d *= 2) {
    const float left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
    __syncthreads();
    s[threadIdx.x] += left;
    __syncthreads();
  }
  if (threadIdx.x == 127) {
    const float sum = s[127];
    aggregates[tile] = sum;
    __threadfence();
    flags[tile] = 1;
    float prefix = 0;
    for (int t = tile - 1; t >= 0; --t) {
      int flag;
      while ((flag = flags[t]) == 0) {}
      __threadfence();
      if (flag == 2) {
        prefix += prefixes[t];
        break;
      }
      prefix += aggregates[t];
    }
    prefixes[tile] = prefix + sum;
    __threadfence();
    flags[tile] = 2;
    before = prefix;
  }
  __syncthreads();
  if (i < n) y[i] = s[threadIdx.x] + before;
}
