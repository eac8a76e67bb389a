// task: vector_add expect: compile_error|rejected
// A host function with a main of its own.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
int main() { return 0; }
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
