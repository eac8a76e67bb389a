// task: vector_add expect: ok|compile_error|timeout
// Thousands of warnings and a kernel that is right.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define W1 { int unused; } { int other = 1 / 0; (void)other; }
#define W2 W1 W1 W1 W1 W1 W1 W1 W1 W1 W1
#define W3 W2 W2 W2 W2 W2 W2 W2 W2 W2 W2
#define W4 W3 W3 W3 W3 W3 W3 W3 W3 W3 W3
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  W4
  if (i < n) out[i] = a[i] + b[i];
}
