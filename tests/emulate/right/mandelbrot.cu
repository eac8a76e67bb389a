// emulate: --launch 'mandelbrot<<<dim3(4, 4), dim3(8, 8)>>>(image, 32, 32, 100)' --buffer image=u8[32,32]
// holds: image = 1 1 1 1
// Every thread iterates until its point escapes; threads of a warp take unlike numbers of steps.
__global__ void mandelbrot(unsigned char* image, int width, int height, int most) {
  int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float cx = -2.5f + 3.5f * px / width, cy = -2.0f + 4.0f * py / height;
  float x = 0, y = 0;
  int n = 0;
  while (n < most && x * x + y * y <= 4.0f) {
    float t = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = t;
    ++n;
  }
  image[py * width + px] = n;
}
