// task: vector_add expect: ok|rejected|compile_error
// A line marker that claims another file.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
# 1 "/proc/self/environ"
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
