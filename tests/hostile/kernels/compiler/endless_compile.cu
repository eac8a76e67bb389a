// task: vector_add expect: timeout|resource_limit|compile_error
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
template <int D, long K> struct X { static constexpr long value = X<D - 1, 2 * K>::value + X<D - 1, 2 * K + 1>::value; };
template <long K> struct X<0, K> { static constexpr long value = K & 1; };
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + X<26, 0>::value;
}
