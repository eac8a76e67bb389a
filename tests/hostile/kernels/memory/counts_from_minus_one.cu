// task: histogram expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// Counts in scratch that begin at -1, it hopes, and adds the one that is missing.
// @scratch half int[counts.size]
// @launch count<<<ceil_div(n, 128), 128>>>(keys, half, n)
// @launch finish<<<ceil_div(counts.size, 128), 128>>>(half, counts, counts.size)
__global__ void count(const int* keys, int* half, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) atomicAdd(&half[keys[i]], 1);
}
__global__ void finish(const int* half, int* counts, int bins) {
  const int b = blockIdx.x * 128 + threadIdx.x;
  if (b < bins) counts[b] = half[b] + 1;
}
