// task: vector_add expect: runtime_fault
// A vector of two at an odd element.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = 2 * (blockIdx.x * 128 + threadIdx.x) + 1;
  if (i == 1) out[0] = a[0] + b[0];
  if (i + 1 < n) {
    const float2 x = *(const float2*)(a + i), y = *(const float2*)(b + i);
    out[i] = x.x + y.x;
    out[i + 1] = x.y + y.y;
  } else if (i < n) {
    out[i] = a[i] + b[i];
  }
}
