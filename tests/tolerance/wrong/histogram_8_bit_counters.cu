// task: histogram
// @launch zero<<<1, 64>>>(counts, bins)
// @launch kern<<<ceil_div(n, 1024), 64>>>(keys, counts, n, bins)
__global__ void zero(int* counts, int bins) {
  if (threadIdx.x < bins) counts[threadIdx.x] = 0;
}
__global__ void kern(const int* keys, int* counts, int n, int bins) {
  __shared__ int own[64];
  own[threadIdx.x] = 0;
  __syncthreads();
  for (int i = threadIdx.x; i < 1024; i += 64) {
    int at = blockIdx.x * 1024 + i;
    if (at < n) atomicAdd(&own[keys[at]], 1);
  }
  __syncthreads();
  if (threadIdx.x < bins) atomicAdd(&counts[threadIdx.x], (int)(unsigned char)own[threadIdx.x]);
}
