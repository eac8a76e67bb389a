// task: vector_add expect: compile_error|rejected
// A computed goto whose star comes from a macro.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define STAR *
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  void* p = (void*)0x401000;
  if (i < n) goto STAR p;
  if (i < n) out[i] = a[i] + b[i];
}
