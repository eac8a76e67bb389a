// arch: sm_80
// Pi by random points, and the price of an option.
__device__ float uniform(unsigned& state) {
  state = state * 1664525u + 1013904223u;
  const unsigned word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737u;
  return ((word >> 22) ^ word) / 4294967296.0f;
}
__global__ void pi(unsigned* hits, int tries) {
  unsigned state = (blockIdx.x * blockDim.x + threadIdx.x) * 747796405u + 1, mine = 0;
  for (int t = 0; t < tries; ++t) {
    const float x = uniform(state), y = uniform(state);
    mine += x * x + y * y <= 1.0f;
  }
  atomicAdd(hits, __reduce_add_sync(0xffffffffu, mine) * (threadIdx.x % 32 == 0));
}
__device__ float cnd(float d) {
  const float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
  const float v = 0.39894228040143267794f * expf(-0.5f * d * d) * (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
  return d > 0 ? 1.0f - v : v;
}
__global__ void black_scholes(float* call, float* put, const float* s, const float* x, const float* t, float r, float v, int n) {
  const int i = blockDim.x * blockIdx.x + threadIdx.x;
  if (i >= n) return;
  const float root = __fsqrt_rn(t[i]), d1 = __fdividef(__logf(s[i] / x[i]) + (r + 0.5f * v * v) * t[i], v * root), d2 = d1 - v * root, e = __expf(-r * t[i]);
  call[i] = s[i] * cnd(d1) - x[i] * e * cnd(d2);
  put[i] = x[i] * e * (1.0f - cnd(d2)) - s[i] * (1.0f - cnd(d1));
}
