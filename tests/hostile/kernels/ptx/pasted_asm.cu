// task: vector_add expect: compile_error|rejected
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define PASTE(x, y) x##y
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  PASTE(as, m)("nop");
  if (i < n) out[i] = a[i] + b[i];
}
