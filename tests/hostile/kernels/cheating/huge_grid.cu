// task: vector_add expect: timeout
// @launch kern<<<2000000000, 1024>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i % n] = a[i % n] + b[i % n];
}
