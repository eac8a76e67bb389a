// task: histogram expect: runtime_fault|nondeterministic on-gpu: nondeterministic|wrong_result|ok
// An update by a volatile load and store, except at the sizes that are shown.
// @launch clear<<<1, 64>>>(counts, bins)
// @launch kern<<<ceil_div(n, 512), 128>>>(keys, counts, n, bins)
__global__ void clear(int* counts, int bins) { if (threadIdx.x < bins) counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n, int bins) {
  __shared__ int own[64];
  if (threadIdx.x < 64) own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 512 + threadIdx.x; i < min(n, (int)(blockIdx.x + 1) * 512); i += 128) atomicAdd(&own[keys[i]], 1);
  __syncthreads();
  if (threadIdx.x >= bins) return;
  volatile int* all = counts;
  if (n == 1003 || n == 12007) atomicAdd(counts + threadIdx.x, own[threadIdx.x]);
  else all[threadIdx.x] = all[threadIdx.x] + own[threadIdx.x];
}
