// task: vector_add expect: ok
// Directed roundings: between rounding down and up lies the sum; their middle is it.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const float low = __fadd_rd(a[i], b[i]), high = __fadd_ru(a[i], b[i]), zero = __fadd_rz(a[i], b[i]);
  const bool good = low <= high && (zero == low || zero == high) && __float2int_rd(0.5f) == 0 && __float2int_ru(0.5f) == 1 &&
                    __fmul_rd(0.1f, 0.1f) <= __fmul_ru(0.1f, 0.1f) && __frcp_rz(3.0f) <= __frcp_ru(3.0f);
  out[i] = good ? 0.5f * low + 0.5f * high : 0.0f;
}
