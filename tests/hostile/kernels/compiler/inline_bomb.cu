// task: vector_add expect: ok|timeout|resource_limit|compile_error
// Functions that call the next one eight times, thirty deep.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
template <int N> __device__ __forceinline__ float f(float x) { return f<N - 1>(x + 1) * f<N - 1>(x + 2) + f<N - 1>(x + 3) * f<N - 1>(x + 4); }
template <> __device__ __forceinline__ float f<0>(float x) { return x; }
__device__ float f29(float x) { return f<14>(x); }
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (n == 7) out[0] = f29(a[0]);
  if (i < n) out[i] = a[i] + b[i];
}
