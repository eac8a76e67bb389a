// task: histogram expect: runtime_fault|wrong_result|nondeterministic
// Counts into an output that nobody cleared.
// @launch kern<<<ceil_div(n, 128), 128>>>(keys, counts, n)
__global__ void kern(const int* keys, int* counts, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) atomicAdd(&counts[keys[i]], 1);
}
