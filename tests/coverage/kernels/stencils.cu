// Heat in 2D, a 25-point stencil in 3D with registers along z, Game of Life.
__global__ void heat(const double* u, double* v, int h, int w, double k) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x > 0 && y > 0 && x < w - 1 && y < h - 1) {
    const int i = y * w + x;
    v[i] = u[i] + k * (u[i - 1] + u[i + 1] + u[i - w] + u[i + w] - 4 * u[i]);
  }
}
__constant__ float kCoefficients[5];
__global__ void stencil_3d(const float* in, float* out, int nx, int ny, int nz) {
  __shared__ float tile[16 + 8][16 + 8];
  const int x = blockIdx.x * 16 + threadIdx.x + 4, y = blockIdx.y * 16 + threadIdx.y + 4, plane = nx * ny;
  const int at = y * nx + x, tx = threadIdx.x + 4, ty = threadIdx.y + 4;
  float back[4], front[5];
  for (int k = 0; k < 4; ++k) back[k] = in[(3 - k) * plane + at];
  for (int k = 0; k < 5; ++k) front[k] = in[(4 + k) * plane + at];
  for (int z = 4; z < nz - 4; ++z) {
    __syncthreads();
    tile[ty][tx] = front[0];
    if (threadIdx.y < 4) {
      tile[threadIdx.y][tx] = in[z * plane + (y - 4) * nx + x];
      tile[threadIdx.y + 20][tx] = in[z * plane + (y + 16) * nx + x];
    }
    if (threadIdx.x < 4) {
      tile[ty][threadIdx.x] = in[z * plane + at - 4];
      tile[ty][threadIdx.x + 20] = in[z * plane + at + 16];
    }
    __syncthreads();
    float v = kCoefficients[0] * front[0];
#pragma unroll
    for (int k = 1; k <= 4; ++k) v += kCoefficients[k] * (back[k - 1] + front[k] + tile[ty - k][tx] + tile[ty + k][tx] + tile[ty][tx - k] + tile[ty][tx + k]);
    out[z * plane + at] = v;
    for (int k = 3; k > 0; --k) back[k] = back[k - 1];
    back[0] = front[0];
    for (int k = 0; k < 4; ++k) front[k] = front[k + 1];
    if (z + 5 < nz) front[4] = in[(z + 5) * plane + at];
  }
}
__global__ void life(const unsigned char* a, unsigned char* b, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w) return;
  int n = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx || dy) n += a[(y + dy + h) % h * w + (x + dx + w) % w];
  b[y * w + x] = n == 3 || (n == 2 && a[y * w + x]);
}
