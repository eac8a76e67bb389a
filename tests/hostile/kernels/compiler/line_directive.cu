// task: vector_add expect: runtime_fault|rejected
// #line of another file and number, in front of a fault.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#line 4000000000 "/etc/shadow"
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i + (1 << 26)] = 1;
  if (i < n) out[i] = a[i] + b[i];
}
