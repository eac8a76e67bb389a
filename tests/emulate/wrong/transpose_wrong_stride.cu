// emulate: --launch 'transpose<<<dim3(2, 2), dim3(16, 16)>>>(in, out, 20, 30)' --buffer in=f32[30,20]:ones --buffer out=f32[20,30]
// fault: data_race 6
// The output's rows have the height as their length, not the width.
__global__ void transpose(const float* in, float* out, int width, int height) {
  int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  if (x < width && y < height) out[x * width + y] = in[y * width + x] * (y + 1);
}
