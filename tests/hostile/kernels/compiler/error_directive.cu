// task: vector_add expect: compile_error|rejected
// #error with a text of control bytes and a path.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#error "[31m /etc/passwd  ${HOME} %s%n"
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
