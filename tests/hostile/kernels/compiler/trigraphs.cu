// task: vector_add expect: ok|compile_error|rejected
// Trigraphs, a backslash at the end of a comment, a missing end of line. ??/
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  n += "??="[0] == 0;
  if (i < n) out[i] = a[i] + b[i];
}
