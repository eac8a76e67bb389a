// Loads and stores of 8 and 16 bits, bools, packed vectors of them, structs with odd sizes.
struct Pixel { unsigned char r, g, b; };
struct __align__(8) Mixed { short a; unsigned char b[3]; bool c; };
__global__ void small_types(const Pixel* in, Pixel* out, const Mixed* m, Mixed* k, const bool* flags, short4* s, ushort2* u, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  Pixel p = in[i];
  out[i] = {p.b, p.g, (unsigned char)(255 - p.r)};
  Mixed v = m[i];
  v.a = (short)(v.a * 3 + v.b[i % 3]);
  v.c = flags[i] && !v.c;
  k[i] = v;
  short4 q = s[i];
  s[i] = make_short4(q.w, (short)(q.x + q.y), (short)-q.z, (short)(q.w >> 3));
  u[i] = make_ushort2((unsigned short)(u[i].y << 2), u[i].x);
}
