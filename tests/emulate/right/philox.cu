// emulate: --launch 'draw<<<2, 64>>>(y, 128, 0)' --buffer y=u32[128]
// holds: y = 1713891541
// A counter-based generator, Philox 4x32-10; the first number of counter zero and key zero is known.
__device__ uint4 philox(uint4 c, uint2 k) {
  for (int r = 0; r < 10; ++r) {
    unsigned hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
    unsigned hi1 = __umulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
    c = make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
    k.x += 0x9E3779B9u;
    k.y += 0xBB67AE85u;
  }
  return c;
}
__global__ void draw(unsigned* y, int n, unsigned key) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = philox(make_uint4(i, 0, 0, 0), make_uint2(key, 0)).x;
}
