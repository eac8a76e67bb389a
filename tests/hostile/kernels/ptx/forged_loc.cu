// task: vector_add expect: runtime_fault|rejected|compile_error
// Line information of its own, so that a fault seems to be elsewhere.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile(".file 9 \"/etc/passwd\"\n\t.loc 9 1 1\n\t" ::: "memory");
  if (i < n) out[i + (1 << 26)] = 1.0f;
  if (i < n) out[i] = a[i] + b[i];
}
