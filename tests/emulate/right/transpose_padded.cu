// emulate: --launch 'transpose<<<dim3(2, 2), dim3(32, 8)>>>(in, out, w, h)' --buffer in=f32[h,w]:arange
// emulate: --buffer out=f32[w,h] --value w=50 --value h=40
// holds: out = 0 50 100 150 200 250 300 350
// The padding of the tile by one column avoids bank conflicts.
__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < width && y + j < height) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int j = 0; j < 32; j += 8)
    if (x < height && y + j < width) out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}
