// task: vector_add expect: compile_error|timeout|resource_limit
// A static_assert that computes for ever.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ constexpr long collatz(long n) { long k = 0; for (long m = 1; m < n; ++m) for (long x = m; x != 1; x = x % 2 ? 3 * x + 1 : x / 2) ++k; return k; }
static_assert(collatz(100000000) > 0, "");
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
