// The gradients of gelu and of its tanh form.
__global__ void gelu_backward(const float* dy, const float* x, float* dx, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float v = x[i], cdf = 0.5f * (1.f + erff(v * 0.70710678118f)), pdf = 0.39894228f * expf(-0.5f * v * v);
  dx[i] = dy[i] * (cdf + v * pdf);
}
__global__ void gelu_tanh_backward(const float4* dy, const float4* x, float4* dx, int n4) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n4) return;
  const auto one = [](float g, float v) {
    const float u = 0.79788456f * (v + 0.044715f * v * v * v), t = tanhf(u), d = 0.79788456f * (1 + 3 * 0.044715f * v * v);
    return g * (0.5f * (1 + t) + 0.5f * v * (1 - t * t) * d);
  };
  const float4 g = dy[i], v = x[i];
  dx[i] = make_float4(one(g.x, v.x), one(g.y, v.y), one(g.z, v.z), one(g.w, v.w));
}
