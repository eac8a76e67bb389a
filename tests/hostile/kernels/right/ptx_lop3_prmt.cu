// task: relu expect: ok
// lop3 with a table and prmt: the sign is spread over a mask that clears.
// @launch kern<<<ceil_div(size, 128), 128>>>(inp, out, size)
__global__ void kern(const float* inp, float* out, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= size) return;
  const unsigned v = __float_as_uint(inp[i]);
  unsigned sign, r;
  asm("prmt.b32 %0, %1, 0, 0xbbbb;" : "=r"(sign) : "r"(v));
  asm("lop3.b32 %0, %1, %2, %2, 0x30;" : "=r"(r) : "r"(v), "r"(sign));
  out[i] = __uint_as_float(r);
}
