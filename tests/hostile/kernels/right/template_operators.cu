// task: vector_add expect: ok
// Operators, characters, functions and qualified names in the arguments of a template.
// @launch math::inner::kern<sizeof(float) * 32, (4 > 2), &math::sum, '+', math::Pair<float, 1 + 1>><<<ceil_div(n, 128), 128>>>(a, b, out, n)
namespace math {
__device__ float sum(float a, float b) { return a + b; }
template <class T, int N>
struct Pair {
  T of[N];
};
namespace inner {
template <int threads, bool check, float (*f)(float, float), char sign, class P>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (check && i >= n) return;
  P pair{{a[i], b[i]}};
  out[i] = sign == '+' ? f(pair.of[0], pair.of[1]) : 0;
}
}  // namespace inner
}  // namespace math
