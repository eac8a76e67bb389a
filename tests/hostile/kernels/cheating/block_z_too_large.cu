// task: vector_add expect: launch_error
// 128 threads in z, where 64 are the most.
// @launch kern<<<ceil_div(n, 128), dim3(1, 1, 128)>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.z;
  if (i < n) out[i] = a[i] + b[i];
}
