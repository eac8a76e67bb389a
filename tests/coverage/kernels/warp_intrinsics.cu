// All warp intrinsics.
__global__ void warp_intrinsics(const int* x, int* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i], lane = threadIdx.x & 31;
  int pred;
  unsigned r = __ballot_sync(~0u, v & 1) ^ __activemask();
  r += __all_sync(~0u, v > 0) + 2 * __any_sync(~0u, v < 0);
  r += __match_any_sync(~0u, v & 7) + __match_all_sync(~0u, v >> 20, &pred) + pred;
  r += __shfl_sync(~0u, v, 3, 8) + __shfl_up_sync(~0u, v, 1, 16) + __shfl_down_sync(~0u, v, 2) + __shfl_xor_sync(~0u, v, 5);
  const double d = __shfl_xor_sync(~0u, (double)v, 1);
  const unsigned long long l = __shfl_down_sync(~0u, (unsigned long long)v << 20, 4);
  __syncwarp(0xffffffffu);
  if (lane & 1) {
    __syncwarp(0xaaaaaaaau);
    r ^= __ballot_sync(0xaaaaaaaau, v & 2);
  }
  y[i] = (int)r + (int)d + (int)(l >> 21);
}
