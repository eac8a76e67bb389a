// Sobel, bilateral, box blur with running sums, bilinear resize, colour conversion, morphology.
__global__ void sobel(const unsigned char* in, unsigned char* out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
  const unsigned char *a = in + (y - 1) * w + x, *b = a + w, *c = b + w;
  const int gx = a[1] + 2 * b[1] + c[1] - a[-1] - 2 * b[-1] - c[-1], gy = c[-1] + 2 * c[0] + c[1] - a[-1] - 2 * a[0] - a[1];
  out[y * w + x] = (unsigned char)min(255, (int)(sqrtf((float)(gx * gx + gy * gy)) + 0.5f));
}
__global__ void bilateral(const uchar4* in, uchar4* out, int w, int h, int r, float space, float range) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  const uchar4 c = in[y * w + x];
  float3 sum = {0, 0, 0};
  float total = 0;
  for (int dy = -r; dy <= r; ++dy)
    for (int dx = -r; dx <= r; ++dx) {
      const uchar4 p = in[min(max(y + dy, 0), h - 1) * w + min(max(x + dx, 0), w - 1)];
      const float d = (p.x - c.x) * (p.x - c.x) + (p.y - c.y) * (p.y - c.y) + (p.z - c.z) * (p.z - c.z);
      const float k = __expf(-(dx * dx + dy * dy) * space - d * range);
      sum.x += k * p.x; sum.y += k * p.y; sum.z += k * p.z;
      total += k;
    }
  out[y * w + x] = make_uchar4(sum.x / total, sum.y / total, sum.z / total, c.w);
}
__global__ void box_rows(const float* in, float* out, int w, int h, int r) {
  const int y = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= h) return;
  float t = in[y * w] * r;
  for (int x = 0; x <= r; ++x) t += in[y * w + x];
  for (int x = 0; x < w; ++x) {
    out[y * w + x] = t / (2 * r + 1);
    t += in[y * w + min(x + r + 1, w - 1)] - in[y * w + max(x - r, 0)];
  }
}
__global__ void resize_bilinear(const float* in, float* out, int c, int ih, int iw, int oh, int ow, bool corners) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= c * oh * ow) return;
  const int ox = i % ow, oy = i / ow % oh;
  const float fy = corners ? oy * (float)(ih - 1) / max(oh - 1, 1) : fmaxf((oy + 0.5f) * ih / oh - 0.5f, 0.f), fx = corners ? ox * (float)(iw - 1) / max(ow - 1, 1) : fmaxf((ox + 0.5f) * iw / ow - 0.5f, 0.f);
  const int y0 = (int)fy, x0 = (int)fx, y1 = min(y0 + 1, ih - 1), x1 = min(x0 + 1, iw - 1);
  const float dy = fy - y0, dx = fx - x0;
  const float* p = in + (size_t)(i / (ow * oh)) * ih * iw;
  out[i] = (1 - dy) * ((1 - dx) * p[y0 * iw + x0] + dx * p[y0 * iw + x1]) + dy * ((1 - dx) * p[y1 * iw + x0] + dx * p[y1 * iw + x1]);
}
__global__ void yuv_to_rgb(const unsigned char* yuv, uchar3* rgb, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  const int c = yuv[y * w + x] - 16, d = yuv[w * h + y / 2 * w + (x & ~1)] - 128, e = yuv[w * h + y / 2 * w + (x | 1)] - 128;
  const auto cut = [](int v) { return (unsigned char)(v < 0 ? 0 : v > 255 ? 255 : v); };
  rgb[y * w + x] = make_uchar3(cut((298 * c + 409 * e + 128) >> 8), cut((298 * c - 100 * d - 208 * e + 128) >> 8), cut((298 * c + 516 * d + 128) >> 8));
}
