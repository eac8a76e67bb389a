// emulate: --launch 'difference<<<2, 64>>>(x, y)' --buffer x=i32[128]:arange --buffer y=i32[128]
// fault: illegal_address 6
// The first element has no left neighbour.
__global__ void difference(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = x[i] - x[i - 1];
}
