// task: vector_add expect: rejected|compile_error
// Dynamic parallelism: a kernel that launches a kernel.
// @launch kern<<<1, 1>>>(a, b, out, n)
__global__ void child(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
__global__ void kern(const float* a, const float* b, float* out, int n) { child<<<(n + 127) / 128, 128>>>(a, b, out, n); }
