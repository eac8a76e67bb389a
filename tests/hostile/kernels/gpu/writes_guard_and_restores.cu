// task: vector_add expect: runtime_fault on-gpu: runtime_fault
// Uses the guard zone as memory between blocks and puts the poison back.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
// @launch restore<<<1, 64>>>(out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (i < 64) out[n + i] = a[i];
}
__global__ void restore(float* out, int n) { ((unsigned*)out)[n + threadIdx.x] = 0xffffffffu; }
