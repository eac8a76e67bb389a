// task: vector_add expect: timeout
// One lane in a thousand never ends.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const volatile float* small = a;
  while (i == 1000 && *small < 1e30f) {}
  if (i < n) out[i] = a[i] + b[i];
}
