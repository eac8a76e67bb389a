// task: row_mean
// @launch mean<<<100, 64>>>(data, out, h, w)
__global__ void mean(const float* data, float* out, int h, int w) {
  __shared__ float s[64];
  int r = blockIdx.x;
  float acc = 0.0f;
  if (r < h) {
    for (int j = threadIdx.x; j < w; j += 64) acc += data[r * w + j];
  }
  s[threadIdx.x] = acc;
  __syncthreads();
  for (int d = 32; d > 0; d /= 2) {
    if (threadIdx.x < d) s[threadIdx.x] += s[threadIdx.x + d];
    __syncthreads();
  }
  if (threadIdx.x == 0 && r < h) out[r] = s[0] / w;
}
