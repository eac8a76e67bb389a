// task: sigmoid expect: ok|compile_error
// A generic lambda given to a device template, which a compiler may take for a host function.
// @launch kern<<<4, 128>>>(x, y, count)
template <typename F> __device__ void for_each(int n, F f) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) f(i);
}
__global__ void kern(const float* x, float* y, int count) {
  const float one = 1.0f;
  for_each(count, [=](auto i) { y[i] = one / (one + expf(-x[i])); });
}
