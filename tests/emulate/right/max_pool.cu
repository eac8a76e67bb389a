// emulate: --launch 'max_pool<<<dim3(1, 1, 3), dim3(8, 8)>>>(in, out, 16)' --buffer in=f32[3,16,16]:arange --buffer out=f32[3,8,8]
// holds: out = 17 19 21 23 25 27 29 31
// Pooling of 2 by 2 pixels; the channel is the grid's third axis.
__global__ void max_pool(const float* in, float* out, int n) {
  int x = threadIdx.x, y = threadIdx.y, half = n / 2;
  const float* p = in + blockIdx.z * n * n + 2 * y * n + 2 * x;
  out[(blockIdx.z * half + y) * half + x] = fmaxf(fmaxf(p[0], p[1]), fmaxf(p[n], p[n + 1]));
}
