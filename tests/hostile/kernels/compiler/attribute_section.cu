// task: vector_add expect: ok|rejected|compile_error
// Attributes for section, alias and constructor.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ __attribute__((section(".init"), used)) int kept = 1;
__device__ __attribute__((constructor)) void before() {}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
