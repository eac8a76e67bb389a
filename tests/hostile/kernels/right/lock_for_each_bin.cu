// task: histogram expect: ok
// A lock for each bin, plain counts behind it.
// @scratch locks int[48]
// @launch clear<<<1, 48>>>(locks, counts)
// @launch kern<<<16, 32>>>(keys, locks, counts, n)
__global__ void clear(int* locks, int* counts) { locks[threadIdx.x] = counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* locks, int* counts, int n) {
  __shared__ int own[48];
  for (int b = threadIdx.x; b < 48; b += 32) own[b] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 32 + threadIdx.x; i < n; i += 512) atomicAdd(&own[keys[i]], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 48; k += 32) {
    const int b = (k + blockIdx.x) % 48;
    for (bool done = own[b] == 0; !done;) {
      if (atomicCAS(&locks[b], 0, 1) != 0) continue;
      __threadfence();
      counts[b] += own[b];
      __threadfence();
      atomicExch(&locks[b], 0);
      done = true;
    }
  }
}
