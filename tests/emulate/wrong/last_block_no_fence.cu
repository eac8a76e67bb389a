// emulate: --launch 'sum<<<8, 64>>>(x, partial, count, total)' --buffer x=i32[512]:ones --buffer partial=i32[8] --buffer count=u32[1]:zeros --buffer total=i32[1]
// fault: data_race 8|14
// No __threadfence between the partial sum and the counter.
__global__ void sum(const int* x, int* partial, unsigned* count, int* total) {
  __shared__ bool is_last;
  int all = __syncthreads_count(x[blockIdx.x * 64 + threadIdx.x]);
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = all;
    is_last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
    *total = sum;
  }
}
