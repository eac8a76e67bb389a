// task: vector_add expect: ok|rejected|runtime_fault
// %s of an address that is nobody's, %n, and a width of a billion.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) printf("%s %n %1000000000d %*d\n", (const char*)0x123456789ull, (int*)out, 1, 1000000000, 2);
  if (i < n) out[i] = a[i] + b[i];
}
