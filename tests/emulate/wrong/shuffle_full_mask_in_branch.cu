// emulate: --launch 'sum<<<1, 32>>>(x, n)' --buffer x=i32[32]:arange --value n=20
// fault: divergent_barrier 8|11
// The mask names all lanes, but only the first twenty take part.
__global__ void sum(int* x, int n) {
  int t = threadIdx.x;
  if (t < n) {
    int v = x[t];
    for (int d = 16; d > 0; d /= 2) v += __shfl_down_sync(0xffffffff, v, d);
    x[t] = v;
  }
  __syncwarp();
  if (t == 31) x[t] = 0;
}
