// emulate: --launch 'clear<<<1, dim3(16, 16)>>>(a)' --launch 'blinker<<<1, 3>>>(a)' --launch 'step<<<1, dim3(16, 16)>>>(a, b)'
// emulate: --launch 'column<<<1, 16>>>(b, c)' --buffer a=u8[16,16] --buffer b=u8[16,16] --buffer c=i32[16]
// holds: c = 0 0 0 0 0 0 0 1
// A blinker of three cells in row 8 stands upright after one step; the world is a torus.
const int N = 16;
__global__ void clear(unsigned char* a) { a[threadIdx.y * N + threadIdx.x] = 0; }
__global__ void blinker(unsigned char* a) { a[8 * N + 7 + threadIdx.x] = 1; }
__global__ void step(const unsigned char* a, unsigned char* b) {
  int x = threadIdx.x, y = threadIdx.y, alive = 0;
  for (int dy = -1; dy <= 1; ++dy)
    for (int dx = -1; dx <= 1; ++dx)
      if (dx != 0 || dy != 0) alive += a[(y + dy + N) % N * N + (x + dx + N) % N];
  b[y * N + x] = alive == 3 || (alive == 2 && a[y * N + x]);
}
__global__ void column(const unsigned char* b, int* c) { c[threadIdx.x] = b[threadIdx.x * N + 8]; }
