// task: vector_add expect: rejected
// An #include of a file of the machine in what some compilers take for a raw string, and others for skipped lines.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#if 0
R"x(
#endif
#include "/etc/passwd"
#if 0
)x"
#endif
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
