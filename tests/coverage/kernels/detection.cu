// Intersection over union, suppression with bit masks, RoI align.
__device__ float iou(const float4 a, const float4 b) {
  const float w = fmaxf(fminf(a.z, b.z) - fmaxf(a.x, b.x), 0.f), h = fmaxf(fminf(a.w, b.w) - fmaxf(a.y, b.y), 0.f), s = w * h;
  return s / ((a.z - a.x) * (a.w - a.y) + (b.z - b.x) * (b.w - b.y) - s);
}
__global__ void nms_masks(const float4* boxes, unsigned long long* masks, int n, float limit) {
  __shared__ float4 block[64];
  const int row = blockIdx.y, col = blockIdx.x, rows = min(n - row * 64, 64), cols = min(n - col * 64, 64);
  if (threadIdx.x < cols) block[threadIdx.x] = boxes[col * 64 + threadIdx.x];
  __syncthreads();
  if (threadIdx.x >= rows) return;
  const float4 mine = boxes[row * 64 + threadIdx.x];
  unsigned long long m = 0;
  for (int k = row == col ? threadIdx.x + 1 : 0; k < cols; ++k)
    if (iou(mine, block[k]) > limit) m |= 1ull << k;
  masks[(size_t)(row * 64 + threadIdx.x) * ((n + 63) / 64) + col] = m;
}
__global__ void roi_align(const float* x, const float* rois, float* y, int channels, int h, int w, int size, float scale, int total) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= total) return;
  const int px = i % size, py = i / size % size, c = i / size / size % channels, n = i / size / size / channels;
  const float *r = rois + n * 5, x0 = r[1] * scale - 0.5f, y0 = r[2] * scale - 0.5f, bw = (r[3] - r[1]) * scale / size, bh = (r[4] - r[2]) * scale / size;
  const float* plane = x + ((size_t)(int)r[0] * channels + c) * h * w;
  float sum = 0;
  for (int s = 0; s < 4; ++s) {
    float sy = y0 + (py + (s / 2 + 0.5f) / 2) * bh, sx = x0 + (px + (s % 2 + 0.5f) / 2) * bw;
    if (sy < -1 || sy > h || sx < -1 || sx > w) continue;
    sy = fmaxf(sy, 0.f);
    sx = fmaxf(sx, 0.f);
    const int iy = min((int)sy, h - 1), ix = min((int)sx, w - 1), jy = min(iy + 1, h - 1), jx = min(ix + 1, w - 1);
    const float fy = sy - iy, fx = sx - ix;
    sum += (1 - fy) * (1 - fx) * plane[iy * w + ix] + (1 - fy) * fx * plane[iy * w + jx] + fy * (1 - fx) * plane[jy * w + ix] + fy * fx * plane[jy * w + jx];
  }
  y[i] = sum / 4;
}
