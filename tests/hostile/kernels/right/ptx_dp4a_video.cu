// task: vector_add expect: ok
// SIMD within a register: dp4a, vadd2 through intrinsics; the sum of indices by bytes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int packed = threadIdx.x & 127;
  const int t = __dp4a(packed, 0x00000001, 0) + (int)(__vadd4(0, 0) + __vadd2(0, 0) + __vmaxu4(0, 0));
  const int i = blockIdx.x * 128 + t;
  if (i < n) out[i] = a[i] + b[i];
}
