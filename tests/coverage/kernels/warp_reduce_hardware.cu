// arch: sm_80
// redux.sync.
__global__ void warp_reduce_hardware(const unsigned* x, unsigned* y) {
  const unsigned v = x[blockIdx.x * 32 + threadIdx.x];
  const int s = (int)v;
  y[blockIdx.x * 32 + threadIdx.x] = __reduce_add_sync(~0u, v) + __reduce_min_sync(~0u, v) + __reduce_max_sync(~0u, v) + __reduce_and_sync(~0u, v) + __reduce_or_sync(~0u, v) + __reduce_xor_sync(~0u, v) + __reduce_min_sync(~0u, s) + __reduce_max_sync(~0u, s) + __reduce_add_sync(~0u, s);
}
