// emulate: --launch 'add<<<4, 256>>>(x, y, n)' --buffer x=f32[1000]:ones --buffer y=f32[1000]:ones --value n=1000
// fault: illegal_address 6
// The guard lets one thread too many through.
__global__ void add(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) y[i] += x[i];
}
