// emulate: --launch 'square<<<4, 256>>>(x)' --buffer x=f32[1000]:ones
// fault: illegal_address 6
// The grid has more threads than the vector has elements.
__global__ void square(float* x) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = x[i] * x[i];
}
