// task: histogram expect: ok
// Lanes with the same key elect a leader, who adds for all.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, counts, n)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned active = __ballot_sync(~0u, i < n);
  if (i >= n) return;
  const int key = keys[i];
  unsigned left = active;
  while (left) {
    const int leader = __ffs(left) - 1, wanted = __shfl_sync(left, key, leader);
    const unsigned same = __ballot_sync(left, key == wanted);
    if (key == wanted) {
      if ((threadIdx.x & 31) == leader) atomicAdd(&counts[key], __popc(same));
      break;
    }
    left &= ~same;
  }
}
