// Activation functions by template and functor, grid-stride, as extensions have them.
struct Gelu { __device__ float operator()(float x) const { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); } };
struct GeluTanh { __device__ float operator()(float x) const { return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x))); } };
struct Silu { __device__ float operator()(float x) const { return x / (1.0f + expf(-x)); } };
struct Mish { __device__ float operator()(float x) const { return x * tanhf(log1pf(expf(x))); } };
struct Softplus { __device__ float operator()(float x) const { return x > 20.f ? x : log1pf(expf(x)); } };
struct Elu { __device__ float operator()(float x) const { return x > 0 ? x : expm1f(x); } };
struct Selu { __device__ float operator()(float x) const { return 1.0507009873554805f * (x > 0 ? x : 1.6732632423543772f * (expf(x) - 1)); } };
struct HardSwish { __device__ float operator()(float x) const { return x * fminf(fmaxf(x + 3.f, 0.f), 6.f) / 6.f; } };
struct HardSigmoid { __device__ float operator()(float x) const { return __saturatef(x / 6.f + 0.5f); } };
struct LogSigmoid { __device__ float operator()(float x) const { return fminf(x, 0.f) - log1pf(expf(-fabsf(x))); } };
template <typename F> __global__ void unary(const float* __restrict__ x, float* __restrict__ y, size_t n) {
  const F f;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) y[i] = f(x[i]);
}
#define INSTANTIATE(F) template __global__ void unary<F>(const float*, float*, size_t);
INSTANTIATE(Gelu) INSTANTIATE(GeluTanh) INSTANTIATE(Silu) INSTANTIATE(Mish) INSTANTIATE(Softplus)
INSTANTIATE(Elu) INSTANTIATE(Selu) INSTANTIATE(HardSwish) INSTANTIATE(HardSigmoid) INSTANTIATE(LogSigmoid)
