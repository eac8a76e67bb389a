// Depthwise convolution with a run-time switch to unrolled filters.
template <int K>
__device__ float window(const float* x, const float* w, int y0, int x0, int height, int width, int k) {
  float v = 0;
  const int size = K > 0 ? K : k;
#pragma unroll
  for (int r = 0; r < size; ++r)
#pragma unroll
    for (int s = 0; s < size; ++s)
      if ((unsigned)(y0 + r) < (unsigned)height && (unsigned)(x0 + s) < (unsigned)width) v = fmaf(__ldg(x + (y0 + r) * width + x0 + s), __ldg(w + r * size + s), v);
  return v;
}
__global__ void conv_depthwise(const float* x, const float* w, const float* bias, float* y, int channels, int height, int width, int k) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= channels * height * width) return;
  const int c = i / (height * width), oy = i / width % height, ox = i % width;
  const float* plane = x + (size_t)c * height * width;
  float v;
  switch (k) {
    case 3: v = window<3>(plane, w + c * 9, oy - 1, ox - 1, height, width, 3); break;
    case 5: v = window<5>(plane, w + c * 25, oy - 2, ox - 2, height, width, 5); break;
    default: v = window<0>(plane, w + c * k * k, oy - k / 2, ox - k / 2, height, width, k);
  }
  y[i] = v + (bias ? bias[c] : 0.f);
}
