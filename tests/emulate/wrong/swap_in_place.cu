// emulate: --launch 'swap<<<1, 64>>>(x)' --buffer x=i32[64]:arange
// fault: data_race 6|7
// Elements are exchanged through global memory without a barrier.
__global__ void swap(int* x) {
  int t = threadIdx.x;
  int other = x[63 - t];
  x[t] = other;
}
