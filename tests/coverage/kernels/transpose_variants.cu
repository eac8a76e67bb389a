// Copy, naive, tiled, diagonal and vectorised transposition.
#define TILE 32
#define ROWS 8
__global__ void transpose_naive(float* o, const float* i, int w, int h) {
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += ROWS)
    if (x < w && y + k < h) o[x * h + y + k] = i[(y + k) * w + x];
}
__global__ void transpose_diagonal(float* o, const float* i, int w, int h) {
  __shared__ float tile[TILE][TILE + 1];
  int by, bx;
  if (w == h) {
    by = blockIdx.x;
    bx = (blockIdx.x + blockIdx.y) % gridDim.x;
  } else {
    const int bid = blockIdx.x + gridDim.x * blockIdx.y;
    by = bid % gridDim.y;
    bx = ((bid / gridDim.y) + by) % gridDim.x;
  }
  int x = bx * TILE + threadIdx.x, y = by * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += ROWS) tile[threadIdx.y + k][threadIdx.x] = i[(y + k) * w + x];
  __syncthreads();
  x = by * TILE + threadIdx.x;
  y = bx * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += ROWS) o[(y + k) * h + x] = tile[threadIdx.x][threadIdx.y + k];
}
__global__ void transpose_bytes(unsigned char* o, const unsigned char* i, int w, int h) {
  __shared__ unsigned char tile[TILE][TILE + 4];
  const int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += ROWS) tile[threadIdx.y + k][threadIdx.x] = x < w && y + k < h ? i[(y + k) * w + x] : 0;
  __syncthreads();
  const int tx = blockIdx.y * TILE + threadIdx.x, ty = blockIdx.x * TILE + threadIdx.y;
  for (int k = 0; k < TILE; k += ROWS)
    if (tx < h && ty + k < w) o[(ty + k) * h + tx] = tile[threadIdx.x][threadIdx.y + k];
}
