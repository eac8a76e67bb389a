// emulate: --launch 'pairs<<<1, 64>>>(x, y, 127)' --buffer x=i32[127]:arange --buffer y=i32[127]
// warning: unwritten
// The last element of an odd number of them is nobody's.
__global__ void pairs(const int* x, int* y, int n) {
  int i = 2 * threadIdx.x;
  if (i + 1 < n) {
    y[i] = x[i + 1];
    y[i + 1] = x[i];
  }
}
