// task: vector_add expect: compile_error
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
template <int N> struct Bomb { static constexpr int value = Bomb<N + 1>::value + 1; };
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + Bomb<3>::value;
}
