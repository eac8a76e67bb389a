// emulate: --launch 'shift<<<1, 64>>>(x)' --buffer x=i32[64]:arange
// fault: divergent_barrier 9|13
// Half of the threads wait at one barrier and half at another.
__global__ void shift(int* x) {
  __shared__ int s[64];
  int t = threadIdx.x;
  if (t % 2 == 0) {
    s[t] = x[t];
    __syncthreads();
    x[t] = s[t + 1];
  } else {
    s[t] = -x[t];
    __syncthreads();
    x[t] = s[t - 1];
  }
}
