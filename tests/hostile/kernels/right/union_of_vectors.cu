// task: vector_add expect: ok
// A union of a vector and an array, indexed at run time.
// @launch kern<<<ceil_div(n, 4 * 64), 64>>>(a, b, out, n)
union Four { float4 v; float f[4]; };
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = 4 * (blockIdx.x * 64 + threadIdx.x);
  Four x, y;
  if (i + 3 < n) {
    x.v = *(const float4*)(a + i);
    y.v = *(const float4*)(b + i);
    for (int k = 0; k < 4; ++k) x.f[k] += y.f[k];
    *(float4*)(out + i) = x.v;
  } else {
    for (int k = i; k < n; ++k) out[k] = a[k] + b[k];
  }
}
