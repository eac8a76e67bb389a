// Open addressing with compare-and-swap, 64-bit slots; a Bloom filter; SHA-like mixing.
__device__ unsigned mix(unsigned k) {
  k ^= k >> 16; k *= 0x85ebca6bu; k ^= k >> 13; k *= 0xc2b2ae35u; k ^= k >> 16;
  return k;
}
__global__ void insert(unsigned long long* table, unsigned capacity, const unsigned* keys, const unsigned* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = mix(keys[i]) & (capacity - 1);
  const unsigned long long wanted = (unsigned long long)keys[i] << 32 | values[i];
  for (;;) {
    const unsigned long long old = atomicCAS(&table[slot], ~0ull, wanted);
    if (old == ~0ull) return;
    if ((unsigned)(old >> 32) == keys[i]) {
      atomicExch(&table[slot], wanted);
      return;
    }
    slot = (slot + 1) & (capacity - 1);
  }
}
__global__ void lookup(const unsigned long long* table, unsigned capacity, const unsigned* keys, unsigned* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned slot = mix(keys[i]) & (capacity - 1), found = 0xffffffffu;
  for (unsigned long long e; (e = table[slot]) != ~0ull; slot = (slot + 1) & (capacity - 1))
    if ((unsigned)(e >> 32) == keys[i]) {
      found = (unsigned)e;
      break;
    }
  values[i] = found;
}
__global__ void sha_rounds(const unsigned* words, unsigned* digest, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned w[16], a = 0x6a09e667u, e = 0x510e527fu;
#pragma unroll
  for (int k = 0; k < 16; ++k) w[k] = __byte_perm(words[i * 16 + k], 0, 0x0123);
#pragma unroll
  for (int k = 0; k < 64; ++k) {
    const unsigned x = w[(k + 1) & 15], y = w[(k + 14) & 15];
    if (k >= 16) w[k & 15] += (__funnelshift_r(x, x, 7) ^ __funnelshift_r(x, x, 18) ^ x >> 3) + w[(k + 9) & 15] + (__funnelshift_r(y, y, 17) ^ __funnelshift_r(y, y, 19) ^ y >> 10);
    e += (__funnelshift_r(e, e, 6) ^ __funnelshift_r(e, e, 11)) + w[k & 15];
    a = (a & e) ^ (~a & w[k & 15]) ^ __funnelshift_l(a, a, 5);
  }
  digest[2 * i] = a;
  digest[2 * i + 1] = e;
}
