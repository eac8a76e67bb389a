// task: vector_add expect: runtime_fault
// Two bytes, in front of the output.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (i == 5) ((short*)out)[-1] = 257;
}
