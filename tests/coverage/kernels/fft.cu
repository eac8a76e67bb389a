// FFT: butterflies in shared memory, bit reversal, twiddles, four elements a thread in registers.
__device__ float2 mul(float2 a, float2 b) { return make_float2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
__global__ void fft_shared(float2* x, int n, int logn, float sign) {
  extern __shared__ float2 s[];
  float2* mine = x + (size_t)blockIdx.x * n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[__brev(i) >> (32 - logn)] = mine[i];
  __syncthreads();
  for (int half = 1; half < n; half *= 2) {
    for (int t = threadIdx.x; t < n / 2; t += blockDim.x) {
      const int k = t & (half - 1), i = 2 * (t - k) + k;
      float sn, cs;
      sincospif(sign * k / half, &sn, &cs);
      const float2 u = s[i], v = mul(make_float2(cs, sn), s[i + half]);
      s[i] = make_float2(u.x + v.x, u.y + v.y);
      s[i + half] = make_float2(u.x - v.x, u.y - v.y);
    }
    __syncthreads();
  }
  for (int i = threadIdx.x; i < n; i += blockDim.x) mine[i] = s[i];
}
__global__ void fft_radix4(const double2* in, double2* out, int n, int p) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, q = n / 4, k = t & (p - 1);
  double2 v[4];
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    double s, c;
    sincospi(-2.0 * k * r / (4 * p), &s, &c);
    const double2 u = in[t + r * q];
    v[r] = make_double2(u.x * c - u.y * s, u.x * s + u.y * c);
  }
  const double2 a = {v[0].x + v[2].x, v[0].y + v[2].y}, b = {v[0].x - v[2].x, v[0].y - v[2].y}, c = {v[1].x + v[3].x, v[1].y + v[3].y}, d = {v[1].y - v[3].y, v[3].x - v[1].x};
  const int j = ((t - k) << 2) + k;
  out[j] = {a.x + c.x, a.y + c.y};
  out[j + p] = {b.x + d.x, b.y + d.y};
  out[j + 2 * p] = {a.x - c.x, a.y - c.y};
  out[j + 3 * p] = {b.x - d.x, b.y - d.y};
}
