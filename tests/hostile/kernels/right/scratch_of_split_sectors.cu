// task: dot expect: ok
// In the first launch, each word of `part` is written by another block; in the second, two blocks read
// all words at once. What the first left in the shadow once made this a data race.
// @scratch part float[32]
// @launch kern<<<32, 32>>>(p, q, part, len)
// @launch add_up<<<2, 32>>>(part, out, 32)
__global__ void kern(const float* p, const float* q, float* part, int len) {
  float acc = 0.0f;
  for (int j = blockIdx.x * 32 + threadIdx.x; j < len; j += gridDim.x * 32) acc += p[j] * q[j];
  for (int d = 16; d > 0; d /= 2) acc += __shfl_xor_sync(0xffffffff, acc, d);
  if (threadIdx.x == 0) part[blockIdx.x] = acc;
}
__global__ void add_up(const float* part, float* out, int size) {
  float acc = part[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) acc += __shfl_xor_sync(0xffffffff, acc, d);
  if (threadIdx.x == 0 && blockIdx.x == 0) out[0] = acc;
}
