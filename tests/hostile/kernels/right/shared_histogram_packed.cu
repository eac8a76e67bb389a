// task: histogram expect: ok
// Two 16-bit counters in a word of shared memory, added by shared atomics.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<ceil_div(n, 1024), 256>>>(keys, counts, n, bins)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n, int bins) {
  __shared__ unsigned pairs[24];
  if (threadIdx.x < 24) pairs[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 1024 + threadIdx.x, end = min(n, (int)blockIdx.x * 1024 + 1024); i < end; i += 256)
    atomicAdd(&pairs[keys[i] / 2], keys[i] % 2 ? 0x10000u : 1u);
  __syncthreads();
  if (threadIdx.x < bins) {
    const unsigned pair = pairs[threadIdx.x / 2];
    atomicAdd(&counts[threadIdx.x], (int)(threadIdx.x % 2 ? pair >> 16 : pair & 0xffff));
  }
}
