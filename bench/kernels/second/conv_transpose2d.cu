// A thread has an input pixel and four filters, 16 sums in registers; the block's weights are in
// shared memory, from where a warp reads one float4 of four taps at once.
// @launch conv<<<dim3(ceil_div(height * width, 128), ceil_div(filters, 4)), 128>>>(x, w, y, channels, filters, height, width)
constexpr int kThreads = 128, kFilters = 4, kMostChannels = 256;

__global__ void __launch_bounds__(kThreads)
    conv(const float* __restrict__ x, const float* __restrict__ w, float* __restrict__ y,
         int channels, int filters, int height, int width) {
  __shared__ float4 taps[kMostChannels][kFilters];
  int plane = height * width, p = blockIdx.x * kThreads + threadIdx.x;
  int first = blockIdx.y * kFilters;
  auto w4 = reinterpret_cast<const float4*>(w);
  for (int k = threadIdx.x; k < channels * kFilters; k += kThreads) {
    int f = first + k % kFilters;
    taps[k / kFilters][k % kFilters] =
        f < filters ? w4[k / kFilters * filters + f] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  }
  __syncthreads();
  if (p >= plane) return;
  const float* from = x + p;
  float4 sums[kFilters] = {};
#pragma unroll 4
  for (int c = 0; c < channels; c++) {
    float v = from[c * plane];
#pragma unroll
    for (int f = 0; f < kFilters; f++) {
      float4 u = taps[c][f];
      sums[f].x = fmaf(v, u.x, sums[f].x);
      sums[f].y = fmaf(v, u.y, sums[f].y);
      sums[f].z = fmaf(v, u.z, sums[f].z);
      sums[f].w = fmaf(v, u.w, sums[f].w);
    }
  }
  int i = p / width, j = p % width;
#pragma unroll
  for (int f = 0; f < kFilters; f++) {
    if (first + f >= filters) return;
    float* to = y + ((first + f) * 2 * height + 2 * i) * 2 * width + 2 * j;
    *reinterpret_cast<float2*>(to) = make_float2(sums[f].x, sums[f].y);
    *reinterpret_cast<float2*>(to + 2 * width) = make_float2(sums[f].z, sums[f].w);
  }
}
