// emulate: --launch 'matmul<<<dim3(2, 2), dim3(16, 16)>>>(a, b, c, 32)' --buffer a=f32[32,32]:arange --buffer b=f32[32,32]:ones --buffer c=f32[32,32]
// fault: data_race 9|10|12
// Fast warps load the next tile while slow ones still read this one.
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  __shared__ float as[16][16], bs[16][16];
  int row = blockIdx.y * 16 + threadIdx.y, col = blockIdx.x * 16 + threadIdx.x;
  float sum = 0;
  for (int t = 0; t < n; t += 16) {
    as[threadIdx.y][threadIdx.x] = a[row * n + t + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + col];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += as[threadIdx.y][i] * bs[i][threadIdx.x];
  }
  c[row * n + col] = sum;
}
