// task: prefix_sum expect: ok
// Eleven launches: scans by doubling distance, between two buffers.
// @scratch t float[n]
// @launch copy<<<ceil_div(n, 128), 128>>>(x, y, n)
// @launch step<1><<<ceil_div(n, 128), 128>>>(y, t, n)
// @launch step<4><<<ceil_div(n, 128), 128>>>(t, y, n)
// @launch step<16><<<ceil_div(n, 128), 128>>>(y, t, n)
// @launch step<64><<<ceil_div(n, 128), 128>>>(t, y, n)
// @launch step<256><<<ceil_div(n, 128), 128>>>(y, t, n)
// @launch step<1024><<<ceil_div(n, 128), 128>>>(t, y, n)
// @launch step<4096><<<ceil_div(n, 128), 128>>>(y, t, n)
// @launch step<16384><<<ceil_div(n, 128), 128>>>(t, y, n)
// @launch step<65536><<<ceil_div(n, 128), 128>>>(y, t, n)
// @launch copy<<<ceil_div(n, 128), 128>>>(t, y, n)
__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) y[i] = x[i];
}
template <int kDistance>
__global__ void step(const float* x, float* y, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 4; ++k)
    if (i >= k * kDistance) sum += x[i - k * kDistance];
  y[i] = sum;
}
