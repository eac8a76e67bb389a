// task: histogram expect: ok
// __match_any_sync aggregates the atomics of a warp; shared bins; a launch that clears.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<ceil_div(n, 512), 128, bins * 4>>>(keys, counts, n, bins)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* __restrict__ keys, int* counts, int n, int bins) {
  extern __shared__ int local[];
  for (int b = threadIdx.x; b < bins; b += blockDim.x) local[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const unsigned active = __activemask();
    const int key = keys[i];
    const unsigned same = __match_any_sync(active, key);
    if ((threadIdx.x & 31) == __ffs(same) - 1) atomicAdd(&local[key], __popc(same));
  }
  __syncthreads();
  for (int b = threadIdx.x; b < bins; b += blockDim.x) if (local[b]) atomicAdd(&counts[b], local[b]);
}
