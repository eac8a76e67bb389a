// task: vector_add expect: compile_error|timeout|resource_limit
// Overload resolution with exponentially many candidates.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
template <int N, int K> struct Fib { static constexpr long v = Fib<N - 1, 2 * K>::v + Fib<N - 2, 2 * K + 1>::v; };
template <int K> struct Fib<0, K> { static constexpr long v = K; };
template <int K> struct Fib<1, K> { static constexpr long v = K + 1; };
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  n += Fib<38, 0>::v & 0;
  if (i < n) out[i] = a[i] + b[i];
}
