// emulate: --launch 'radix_sort<<<1, 256>>>(keys)' --buffer keys=u32[256]:arange
// holds: keys = 0 1 2 3 4 5 6 7
// Eight passes, one bit each: ballots give the position within a warp, a scan of warps the rest.
__global__ void radix_sort(unsigned* keys) {
  __shared__ unsigned s[256], zeros[8];
  unsigned t = threadIdx.x, lane = t & 31, warp = t >> 5;
  s[t] = 255 - (keys[t] * 101 + 17) % 256;
  for (unsigned bit = 0; bit < 8; ++bit) {
    __syncthreads();
    unsigned key = s[t];
    bool is_zero = ((key >> bit) & 1) == 0;
    unsigned votes = __ballot_sync(~0u, is_zero);
    if (lane == 0) zeros[warp] = __popc(votes);
    __syncthreads();
    unsigned before = __popc(votes & ((1u << lane) - 1)), all = 0;
    for (unsigned w = 0; w < 8; ++w) {
      if (w < warp) before += zeros[w];
      all += zeros[w];
    }
    s[is_zero ? before : all + t - before] = key;
  }
  __syncthreads();
  keys[t] = s[t];
}
