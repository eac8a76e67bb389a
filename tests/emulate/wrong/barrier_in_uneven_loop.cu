// emulate: --launch 'count<<<1, 64>>>(x)' --buffer x=i32[64]:arange
// fault: divergent_barrier 10|12
// The threads pass the barrier of the loop unlike numbers of times.
__global__ void count(int* x) {
  __shared__ int s[64];
  int t = threadIdx.x, n = x[t];
  s[t] = 0;
  for (int i = 0; i < n; ++i) {
    s[t] += i;
    __syncthreads();
  }
  __syncthreads();
  x[t] = s[63 - t];
}
