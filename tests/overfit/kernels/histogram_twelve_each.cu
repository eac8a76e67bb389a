// task: histogram
// @launch count<<<1, 1024>>>(keys, counts, n)
__global__ void count(const int* keys, int* counts, int n) {
  __shared__ int local[48];
  if (threadIdx.x < 48) local[threadIdx.x] = 0;
  __syncthreads();
  for (int t = 0; t < 12; t++) {
    int i = threadIdx.x + t * 1024;
    if (i < n) atomicAdd(&local[keys[i]], 1);
  }
  __syncthreads();
  if (threadIdx.x < 48) counts[threadIdx.x] = local[threadIdx.x];
}
