// task: total_sum expect: ok on-gpu: ok|timeout
// Every thread of every block takes the same lock, which 78,000 threads of a GPU may do for more than a second.
// @launch clear<<<1, 1>>>(y)
// @launch kern<<<ceil_div(n, 256), 256>>>(x, y, n)
__device__ int lock;
__global__ void clear(float* y) { *y = 0; lock = 0; }
__global__ void kern(const float* x, float* y, int n) {
  int i = blockIdx.x * 256 + threadIdx.x;
  bool done = i >= n;
  while (!done) {
    if (atomicCAS(&lock, 0, 1) == 0) { __threadfence(); *y += x[i]; __threadfence(); atomicExch(&lock, 0); done = true; }
  }
}
