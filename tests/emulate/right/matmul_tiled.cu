// emulate: --launch 'matmul<<<dim3(3, 3), dim3(16, 16)>>>(a, b, c, n)' --buffer a=f32[40,40]:ones
// emulate: --buffer b=f32[40,40]:arange --buffer c=f32[40,40] --value n=40
// holds: c = 31200 31240 31280 31320
// Tiled product of square matrices whose size is no multiple of the tile.
#define TILE 16
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[TILE][TILE], bs[TILE][TILE];
  int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
  float sum = 0.0f;
  for (int t = 0; t < (n + TILE - 1) / TILE; ++t) {
    int k = t * TILE;
    as[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? a[row * n + k + threadIdx.x] : 0.0f;
    bs[threadIdx.y][threadIdx.x] = col < n && k + threadIdx.y < n ? b[(k + threadIdx.y) * n + col] : 0.0f;
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
    __syncthreads();
  }
  if (row < n && col < n) c[row * n + col] = sum;
}
