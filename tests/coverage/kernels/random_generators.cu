// Counter-based random numbers: Philox, xorshift, PCG, and Box-Muller.
struct Philox {
  uint4 c;
  uint2 k;
  __device__ uint4 operator()() {
    uint4 x = c;
    uint2 key = k;
#pragma unroll
    for (int r = 0; r < 10; ++r) {
      const unsigned h0 = __umulhi(0xD2511F53u, x.x), l0 = 0xD2511F53u * x.x, h1 = __umulhi(0xCD9E8D57u, x.z), l1 = 0xCD9E8D57u * x.z;
      x = make_uint4(h1 ^ x.y ^ key.x, l1, h0 ^ x.w ^ key.y, l0);
      key.x += 0x9E3779B9u;
      key.y += 0xBB67AE85u;
    }
    if (++c.x == 0) ++c.y;
    return x;
  }
};
__global__ void normal(float4* out, int n, unsigned long long seed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Philox g{make_uint4(0, 0, i, 0), make_uint2((unsigned)seed, (unsigned)(seed >> 32))};
  const uint4 r = g();
  const float u = (r.x + 0.5f) * 2.3283064e-10f, v = (r.z + 0.5f) * 2.3283064e-10f;
  float s, c, s2, c2;
  sincospif(2 * r.y * 2.3283064e-10f, &s, &c);
  __sincosf(6.2831853f * r.w * 2.3283064e-10f, &s2, &c2);
  const float a = sqrtf(-2 * logf(u)), b = sqrtf(-2 * __logf(v));
  out[i] = make_float4(a * s, a * c, b * s2, b * c2);
}
__global__ void dropout(const float* x, float* y, unsigned char* mask, int n, float p, unsigned long long seed) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    unsigned long long s = seed + i * 6364136223846793005ull;
    s ^= s >> 33; s *= 0xff51afd7ed558ccdull; s ^= s >> 33; s *= 0xc4ceb9fe1a85ec53ull; s ^= s >> 33;
    const bool keep = (s >> 40) * 5.9604645e-8f >= p;
    mask[i] = keep;
    y[i] = keep ? x[i] / (1 - p) : 0;
  }
}
