// task: total_max
// @launch kern<<<1, 32>>>(a, res, N)
__global__ void kern(const float* a, float* res, int N) {
  float top = -1000.0f;
  for (int i = threadIdx.x; i < N; i += 32) top = fmaxf(top, a[i]);
  for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, step));
  if (threadIdx.x == 0) *res = top;
}
