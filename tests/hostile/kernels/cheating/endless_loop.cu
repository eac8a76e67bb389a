// task: vector_add expect: timeout
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int spin = 1;
  while (spin) i += spin;
  out[0] = i;
}
