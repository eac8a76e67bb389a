// task: vector_mul expect: ok
// A large scratch buffer of which little is used: all runs of an evaluation together would need gigabytes.
// @scratch spread float[57671680]
// @launch first<<<ceil_div(len, 128), 128>>>(u, spread, len)
// @launch second<<<ceil_div(len, 128), 128>>>(v, spread, res, len)
__global__ void first(const float* lhs, float* spread, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) spread[i % 1024 * 56000ll + i / 1024] = lhs[i];
}
__global__ void second(const float* rhs, const float* spread, float* dst, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) dst[i] = spread[i % 1024 * 56000ll + i / 1024] * rhs[i];
}
