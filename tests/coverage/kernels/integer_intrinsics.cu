// Bits, bytes, saturation, high products, SIMD within a word.
__global__ void integer_intrinsics(const unsigned* x, unsigned* y, const long long* w, long long* z, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned a = x[i], b = x[n - 1 - i];
  unsigned r = __popc(a) + __clz(a) + __ffs(a) + __brev(a) + __byte_perm(a, b, 0x6240) + __umulhi(a, b) + __mulhi((int)a, (int)b) + __umul24(a, b) + __mul24((int)a, (int)b);
  r += __funnelshift_l(a, b, a & 31) + __funnelshift_rc(a, b, 40) + __sad((int)a, (int)b, r) + __usad(a, b, r) + __hadd((int)a, (int)b) + __rhadd((int)a, (int)b) + __uhadd(a, b) + __urhadd(a, b);
  r ^= __vadd2(a, b) ^ __vsub4(a, b) ^ __vabsdiffu4(a, b) ^ __vmaxs2(a, b) ^ __vminu4(a, b) ^ __vcmpgtu4(a, b) ^ __vaddus4(a, b) ^ __vavgu4(a, b) ^ __vsadu4(a, b) ^ __vneg2(a) ^ __vabs4(a) ^ __vseteq4(a, b) ^ __vaddss2(a, b);
  r += max(a, b) - min((int)a, (int)b) + abs((int)a) + (a << (b & 31)) + ((int)a >> (b & 31)) + a / (b | 1) + a % (b | 1) + (unsigned)((int)a / ((int)b | 1)) + (unsigned)((int)a % ((int)b | 1));
  y[i] = r;
  const long long p = w[i], q = w[n - 1 - i] | 1;
  z[i] = __mul64hi(p, q) + (long long)__umul64hi(p, q) + __popcll(p) + __clzll(p) + __ffsll(p) + (long long)__brevll(p) + p / q + p % q + (long long)((unsigned long long)p / (unsigned long long)q) + llabs(p) + llmin(p, q) + (p << (q & 63)) + (p >> (q & 63));
}
