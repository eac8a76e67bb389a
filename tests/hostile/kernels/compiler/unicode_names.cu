// task: vector_add expect: rejected
// Names beyond ASCII, which NVRTC does not read.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int größe = n, 数 = blockIdx.x * 128 + threadIdx.x;
  if (数 < größe) out[数] = a[数] + b[数];
}
