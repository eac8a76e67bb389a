// emulate: --launch 'flags<<<1, 128>>>(x, pos)' --launch 'scan<<<1, 128>>>(pos)' --launch 'scatter<<<1, 128>>>(x, pos, y)'
// emulate: --buffer x=i32[128]:arange --buffer pos=i32[128] --buffer y=i32[128]:-1
// holds: y = 0 3 6 9 12 15 18 21
// Keeps the multiples of three in their order: flags, a scan of warps, a scatter.
__global__ void flags(const int* x, int* pos) { pos[threadIdx.x] = x[threadIdx.x] % 3 == 0; }
__global__ void scan(int* pos) {
  __shared__ int sums[4];
  int t = threadIdx.x, lane = t & 31, v = pos[t];
  for (int d = 1; d < 32; d *= 2) {
    int u = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += u;
  }
  if (lane == 31) sums[t / 32] = v;
  __syncthreads();
  for (int w = 0; w < t / 32; ++w) v += sums[w];
  pos[t] = v;
}
__global__ void scatter(const int* x, const int* pos, int* y) {
  int t = threadIdx.x;
  if (x[t] % 3 == 0) y[pos[t] - 1] = x[t];
}
