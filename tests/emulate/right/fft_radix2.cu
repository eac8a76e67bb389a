// emulate: --launch 'fft<<<1, 32>>>(x, y)' --buffer x=f32[64]:ones --buffer y=f32[64,2]
// holds: y = 64 0 0 0 0 0 0 0
// A Fourier transform of 64 real numbers in shared memory: bits reversed, then six stages of butterflies.
__global__ void fft(const float* x, float2* y) {
  __shared__ float2 s[64];
  int t = threadIdx.x;
  for (int i = t; i < 64; i += 32) s[__brev(i) >> 26] = make_float2(x[i], 0);
  __syncthreads();
  for (int half = 1; half < 64; half *= 2) {
    int k = t % half, lo = t / half * 2 * half + k, hi = lo + half;
    float sine, cosine;
    sincospif(-float(k) / half, &sine, &cosine);
    float2 a = s[lo], b = s[hi];
    float2 w = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    s[lo] = make_float2(a.x + w.x, a.y + w.y);
    s[hi] = make_float2(a.x - w.x, a.y - w.y);
    __syncthreads();
  }
  y[t] = s[t];
  y[t + 32] = s[t + 32];
}
