// task: vector_add expect: timeout|runtime_fault
// An endless loop without a basic block of its own: goto itself.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 5) { here: goto here; }
  if (i < n) out[i] = a[i] + b[i];
}
