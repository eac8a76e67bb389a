// task: histogram expect: launch_error on-gpu: launch_error|ok
// All blocks along y: enough at the real size, too many at the end of the ranges.
// @launch clear<<<1, bins>>>(counts)
// @launch kern<<<dim3(1, ceil_div(n, 512)), 512>>>(keys, counts, n)
__global__ void clear(int* counts) { counts[threadIdx.x] = 0; }
__global__ void kern(const int* keys, int* counts, int n) {
  const int i = blockIdx.y * 512 + threadIdx.x;
  if (i < n) atomicAdd(&counts[keys[i]], 1);
}
