// task: vector_add expect: rejected
// The time of the compile in the arguments of a template that only the directive names.
// @launch kern<last(__TIME__)><<<ceil_div(n, 128), 128>>>(a, b, out, n)
constexpr int last(const char* text) { return text[7] & 1; }
template <int odd>
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + odd;
}
