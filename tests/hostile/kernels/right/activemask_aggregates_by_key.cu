// task: histogram expect: ok
// Whichever lanes are together count together: right for every mask that __activemask() may give.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, counts, n, bins)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n, int bins) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  for (int b = 0; b < bins; ++b) {
    if (keys[i] != b) continue;
    const unsigned together = __activemask();
    if (threadIdx.x % 32 == __ffs(together) - 1) atomicAdd(&counts[b], __popc(together));
  }
}
