// task: vector_mul expect: runtime_fault|wrong_result|nondeterministic
// A local array of which only every other element is written.
// @launch kern<<<ceil_div(len, 128), 128>>>(u, v, res, len)
__global__ void kern(const float* u, const float* v, float* res, int len) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  volatile float kept[4];
  if (i >= len) return;
  kept[i & 2] = u[i] * v[i];
  res[i] = kept[i & 3];
}
