// arch: sm_80
// mma of bytes with saturation behind it.
__global__ void matmul_mma_int8(const int* a, const int* b, signed char* c, int n, int k4, float scale) {
  const int g = threadIdx.x / 4, t = threadIdx.x % 4, r = blockIdx.y * 16 + g, j = blockIdx.x * 8 + g;
  int d[4] = {};
  for (int e = 0; e < k4; e += 8)
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[r * k4 + e + t]), "r"(a[(r + 8) * k4 + e + t]), "r"(a[r * k4 + e + t + 4]), "r"(a[(r + 8) * k4 + e + t + 4]), "r"(b[j * k4 + e + t]), "r"(b[j * k4 + e + t + 4]));
  for (int i = 0; i < 4; ++i) c[(r + i / 2 * 8) * n + blockIdx.x * 8 + t * 2 + i % 2] = (signed char)max(-128, min(127, __float2int_rn(d[i] * scale)));
}
