// task: vector_add expect: ok min-speedup: 0.1
// Blocks draw tiles from a counter until there are none.
// @scratch next int[1]
// @launch clear<<<1, 1>>>(next)
// @launch kern<<<6, 64>>>(a, b, out, next, n)
__global__ void clear(int* next) { *next = 0; }
__global__ void kern(const float* a, const float* b, float* out, int* next, int n) {
  __shared__ int tile;
  for (;;) {
    if (threadIdx.x == 0) tile = atomicAdd(next, 1);
    __syncthreads();
    const int begin = tile * 64;
    __syncthreads();
    if (begin >= n) return;
    const int i = begin + threadIdx.x;
    if (i < n) out[i] = a[i] + b[i];
  }
}
