// 256-bit addition and Montgomery products of 128 bits; double-double sums.
__global__ void add_256(const unsigned* a, const unsigned* b, unsigned* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned r[8];
  const unsigned *x = a + i * 8, *y = b + i * 8;
  asm("add.cc.u32 %0, %8, %16;\n\taddc.cc.u32 %1, %9, %17;\n\taddc.cc.u32 %2, %10, %18;\n\taddc.cc.u32 %3, %11, %19;\n\taddc.cc.u32 %4, %12, %20;\n\taddc.cc.u32 %5, %13, %21;\n\taddc.cc.u32 %6, %14, %22;\n\taddc.u32 %7, %15, %23;"
      : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(x[4]), "r"(x[5]), "r"(x[6]), "r"(x[7]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), "r"(y[4]), "r"(y[5]), "r"(y[6]), "r"(y[7]));
  for (int k = 0; k < 8; ++k) c[i * 8 + k] = r[k];
}
__global__ void montgomery(const unsigned long long* a, const unsigned long long* b, unsigned long long* c, unsigned long long m, unsigned long long inverse, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned __int128 t = (unsigned __int128)a[i] * b[i];
  const unsigned long long q = (unsigned long long)t * inverse;
  const unsigned __int128 r = t + (unsigned __int128)q * m;
  const unsigned long long h = (unsigned long long)(r >> 64);
  c[i] = r < t || h >= m ? h - m : h;
}
__global__ void double_double(const double* x, double2* out, int n) {
  double hi = 0, lo = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const double s = __dadd_rn(hi, x[i]), b = __dsub_rn(s, hi);
    lo += __dadd_rn(__dsub_rn(hi, __dsub_rn(s, b)), __dsub_rn(x[i], b));
    hi = s;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = make_double2(hi, lo);
}
