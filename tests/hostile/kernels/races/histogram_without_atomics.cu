// task: histogram expect: runtime_fault on-gpu: runtime_fault|wrong_result|nondeterministic
// Increments of shared bins that lose each other.
// @launch kern<<<1, 256>>>(keys, counts, n, bins)
__global__ void kern(const int* keys, int* counts, int n, int bins) {
  __shared__ int local[64];
  if (threadIdx.x < 64) local[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) local[keys[i]]++;
  __syncthreads();
  if (threadIdx.x < bins) counts[threadIdx.x] = local[threadIdx.x];
}
