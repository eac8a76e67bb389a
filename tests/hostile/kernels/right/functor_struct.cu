// task: saxpy expect: ok
// A functor with state, passed by value to a templated device function.
// @launch kern<<<ceil_div(n, 256), 256>>>(x, b, out, n, alpha)
template <typename T> struct Axpy { T alpha; __host__ __device__ T operator()(T x, T y) const { return alpha * x + y; } };
template <typename F, typename T> __device__ void transform(F f, const T* x, const T* y, T* out, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) out[i] = f(x[i], y[i]);
}
__global__ void kern(const float* x, const float* y, float* out, int n, float alpha) { transform(Axpy<float>{alpha}, x, y, out, n); }
