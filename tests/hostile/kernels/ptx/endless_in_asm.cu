// task: vector_add expect: timeout on-gpu: timeout
// A loop of one instruction.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{ here: bra here; }");
  if (i < n) out[i] = a[i] + b[i];
}
