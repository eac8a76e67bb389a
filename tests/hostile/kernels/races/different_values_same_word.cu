// task: total_max expect: runtime_fault|wrong_result|nondeterministic on-gpu: runtime_fault|wrong_result|nondeterministic|ok
// The largest wins only if it comes last.
// @launch kern<<<1, 256>>>(a, res, N)
__global__ void kern(const float* a, float* res, int N) {
  __shared__ float best;
  if (threadIdx.x == 0) best = -INFINITY;
  __syncthreads();
  float mine = -INFINITY;
  for (int i = threadIdx.x; i < N; i += 256) mine = fmaxf(mine, a[i]);
  if (mine > best) best = mine;
  __syncthreads();
  if (threadIdx.x == 0) *res = best;
}
