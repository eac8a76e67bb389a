// emulate: --launch 'add<<<4, 256>>>(a, b, c, n)' --buffer a=f32[1000]:arange --buffer b=f32[1000]:ones
// emulate: --buffer c=f32[1000] --value n=1000
// holds: c = 1 2 3 4
// Adds two vectors, one element per thread.
__global__ void add(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
