// emulate: --launch 'classify<<<1, 64>>>(x, y)' --buffer x=i32[64]:arange --buffer y=i32[64]
// holds: y = 0 101 202 -3 4 105 206 -7
// Threads of a warp take different cases of a switch and meet again.
__global__ void classify(const int* x, int* y) {
  int v = x[threadIdx.x];
  switch (v % 4) {
    case 0: break;
    case 1: v += 100; break;
    case 2: v += 200; break;
    default: v = -v;
  }
  y[threadIdx.x] = v;
}
