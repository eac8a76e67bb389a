// emulate: --launch 'best<<<1, 64>>>(x, y, 4)' --buffer x=i32[64]:arange --buffer y=i32[64]
// warning: order_dependent
// If no element is larger, the result was never set.
__global__ void best(const int* x, int* y, int n) {
  int found;
  for (int k = 0; k < n; ++k)
    if (x[k] > threadIdx.x) found = x[k];
  y[threadIdx.x] = found;
}
