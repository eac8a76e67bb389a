// task: vector_add expect: runtime_fault on-gpu: runtime_fault
// Writes behind its output what stands there: the poison.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  else ((unsigned*)out)[i] = 0xffffffffu;
}
