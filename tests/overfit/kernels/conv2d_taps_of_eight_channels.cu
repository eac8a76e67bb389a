// task: conv2d
// @launch conv<<<dim3(height, filters), 64>>>(x, w, bias, y, channels, height, width)
__global__ void conv(const float* x, const float* w, const float* bias, float* y, int channels, int height, int width) {
  __shared__ float taps[72];
  int f = blockIdx.y, i = blockIdx.x, count = min(72, 9 * channels);
  for (int k = threadIdx.x; k < count; k += 64) taps[k] = w[f * 9 * channels + k];
  __syncthreads();
  for (int j = threadIdx.x; j < width; j += 64) {
    float sum = bias[f];
    for (int k = 0; k < count; k++) {
      int r = i + k % 9 / 3 - 1, s = j + k % 3 - 1;
      if (r >= 0 && r < height && s >= 0 && s < width) sum += x[(k / 9 * height + r) * width + s] * taps[k];
    }
    y[(f * height + i) * width + j] = sum;
  }
}
