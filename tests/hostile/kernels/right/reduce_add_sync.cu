// task: histogram expect: ok|compile_error
// Needs compute capability 8.0: A block a bin: __ballot_sync, __reduce_add_sync.
// @launch kern<<<bins, 256>>>(keys, counts, n)
__global__ void kern(const int* keys, int* counts, int n) {
  __shared__ int part[8];
  int mine = 0;
  for (int i = threadIdx.x; i < n; i += 256) mine += keys[i] == (int)blockIdx.x;
  mine = __reduce_add_sync(0xffffffffu, mine);
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x < 32) {
    int v = threadIdx.x < 8 ? part[threadIdx.x] : 0;
    v = __reduce_add_sync(0xffffffffu, v);
    if (threadIdx.x == 0) counts[blockIdx.x] = v;
  }
}
