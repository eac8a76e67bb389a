// task: histogram expect: runtime_fault|nondeterministic|wrong_result on-gpu: nondeterministic|wrong_result|runtime_fault|ok
// The lanes of a warp count their keys; one of them takes the count while others still add to it.
// @launch kern<<<bins, 32>>>(keys, counts, n)
__global__ void kern(const int* keys, int* counts, int n) {
  __shared__ int length;
  if (threadIdx.x == 0) length = 0;
  __syncwarp();
  for (int i = threadIdx.x; i < n; i += 32) {
    if (keys[i] == static_cast<int>(blockIdx.x)) atomicAdd(&length, 1);
  }
  if (threadIdx.x == 9) counts[blockIdx.x] = *(volatile int*)&length;
}
