// emulate: --launch 'count<<<2, 64>>>(x, bins)' --buffer x=i32[128]:arange --buffer bins=i32[4]:zeros
// holds: bins = 32 32 32 32
// Lanes with equal keys elect one of them, which adds for all.
__global__ void count(const int* x, int* bins) {
  int key = x[blockIdx.x * blockDim.x + threadIdx.x] % 4;
  unsigned peers = __match_any_sync(0xffffffffu, key);
  int leader = __ffs(peers) - 1;
  if (threadIdx.x % 32 == leader) atomicAdd(&bins[key], __popc(peers));
}
