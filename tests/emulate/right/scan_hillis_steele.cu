// emulate: --launch 'scan<<<1, 128, 1024>>>(x, y, 128)' --buffer x=i32[128]:ones --buffer y=i32[128]
// holds: y = 1 2 3 4 5 6 7 8
// An inclusive scan with two buffers, so that one barrier per step is enough.
__global__ void scan(const int* x, int* y, int n) {
  extern __shared__ int temp[];
  int t = threadIdx.x, out = 0, in = 1;
  temp[t] = x[t];
  __syncthreads();
  for (int offset = 1; offset < n; offset *= 2) {
    out = 1 - out;
    in = 1 - out;
    temp[out * n + t] = temp[in * n + t] + (t >= offset ? temp[in * n + t - offset] : 0);
    __syncthreads();
  }
  y[t] = temp[out * n + t];
}
