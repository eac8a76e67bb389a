// task: vector_add expect: rejected|compile_error|runtime_fault
// __assertfail with addresses that are nobody's.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) __assertfail((const char*)0x1234, (const char*)(out + (1 << 28)), 0, nullptr, 1ul << 40);
  if (i < n) out[i] = a[i] + b[i];
}
