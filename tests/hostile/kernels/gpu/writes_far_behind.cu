// task: vector_add expect: runtime_fault on-gpu: runtime_fault|flagged
// Writes a megabyte behind its output, beyond the guard: into the arena, where nobody looks.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (i < n) out[(1 << 18) + i] = 7.0f;
}
