// task: vector_add expect: launch_error
// More than 65535 blocks in y.
// @launch kern<<<dim3(1, 70000), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.y * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
