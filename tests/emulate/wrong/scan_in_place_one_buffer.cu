// emulate: --launch 'scan<<<1, 128>>>(x)' --buffer x=i32[128]:ones
// fault: data_race 10
// An inclusive scan with one buffer needs a barrier between the reads and the writes of a step.
__global__ void scan(int* x) {
  __shared__ int s[128];
  int t = threadIdx.x;
  s[t] = x[t];
  for (int d = 1; d < 128; d *= 2) {
    __syncthreads();
    if (t >= d) s[t] += s[t - d];
  }
  x[t] = s[t];
}
