// Winograd F(2x2, 3x3) transforms of tiles.
__global__ void winograd_input(const float* x, float* v, int h, int w, int tiles_x, int tiles) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tiles) return;
  const int ty = t / tiles_x * 2 - 1, tx = t % tiles_x * 2 - 1;
  float d[4][4], m[4][4];
#pragma unroll
  for (int r = 0; r < 4; ++r)
#pragma unroll
    for (int c = 0; c < 4; ++c) d[r][c] = ty + r >= 0 && ty + r < h && tx + c >= 0 && tx + c < w ? x[(ty + r) * w + tx + c] : 0.f;
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    m[0][c] = d[0][c] - d[2][c];
    m[1][c] = d[1][c] + d[2][c];
    m[2][c] = d[2][c] - d[1][c];
    m[3][c] = d[1][c] - d[3][c];
  }
#pragma unroll
  for (int r = 0; r < 4; ++r) {
    v[(r * 4 + 0) * tiles + t] = m[r][0] - m[r][2];
    v[(r * 4 + 1) * tiles + t] = m[r][1] + m[r][2];
    v[(r * 4 + 2) * tiles + t] = m[r][2] - m[r][1];
    v[(r * 4 + 3) * tiles + t] = m[r][1] - m[r][3];
  }
}
__global__ void winograd_output(const float* m, float* y, int h, int w, int tiles_x, int tiles) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x;
  if (t >= tiles) return;
  float s[2][4];
#pragma unroll
  for (int c = 0; c < 4; ++c) {
    const float a = m[c * tiles + t], b = m[(4 + c) * tiles + t], d = m[(8 + c) * tiles + t], e = m[(12 + c) * tiles + t];
    s[0][c] = a + b + d;
    s[1][c] = b - d - e;
  }
  for (int r = 0; r < 2; ++r)
    for (int c = 0; c < 2; ++c) {
      const int oy = t / tiles_x * 2 + r, ox = t % tiles_x * 2 + c;
      if (oy < h && ox < w) y[oy * w + ox] = c == 0 ? s[r][0] + s[r][1] + s[r][2] : s[r][1] - s[r][2] - s[r][3];
    }
}
