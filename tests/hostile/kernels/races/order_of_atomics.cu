// task: total_max expect: nondeterministic|wrong_result|runtime_fault on-gpu: nondeterministic|wrong_result|ok
// The result is what the last atomicExch left.
// @launch kern<<<8, 128>>>(a, res, N)
__global__ void kern(const float* a, float* res, int N) {
  __shared__ float best[128];
  float v = -INFINITY;
  for (int i = blockIdx.x * 128 + threadIdx.x; i < N; i += 1024) v = fmaxf(v, a[i]);
  best[threadIdx.x] = v;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int t = 1; t < 128; ++t) v = fmaxf(v, best[t]);
    atomicExch(res, v);
  }
}
