// task: total_sum expect: ok
// A queue lock: every block waits for a word of its own, which the block before it clears.
// @scratch node int[2 * 16]
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<16, 32>>>(x, node, y, n)
__device__ int tail;
__global__ void clear(float* y) { *y = 0; tail = -1; }
__global__ void kern(const float* x, int* node, float* y, int n) {
  float sum = 0;
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x) return;
  volatile int* next = node; volatile int* wait = node + 16;
  int b = blockIdx.x;
  next[b] = -1; wait[b] = 1;
  __threadfence();
  int before = atomicExch(&tail, b);
  if (before >= 0) { __threadfence(); next[before] = b; while (wait[b]) {} }
  __threadfence();
  *y += sum;
  __threadfence();
  if (next[b] < 0) {
    if (atomicCAS(&tail, b, -1) == b) return;
    while (next[b] < 0) {}
  }
  __threadfence();
  wait[next[b]] = 0;
}
