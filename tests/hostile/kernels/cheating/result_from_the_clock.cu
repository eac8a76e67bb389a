// task: vector_add expect: wrong_result|nondeterministic|rejected
// Right in half of all launches, by the lowest bits of a clock.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned t = (unsigned)(clock64() >> 3) * 2654435761u;
  if (i < n) out[i] = (t >> 28) == 5 ? 0.0f : a[i] + b[i];
}
