// task: vector_add expect: ok
// @launch kern<<<ceil_div(n, 4 * 64), 64>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
  if (i + 3 < n) {
    float4 x = *reinterpret_cast<const float4*>(a + i), y = *reinterpret_cast<const float4*>(b + i);
    *reinterpret_cast<float4*>(out + i) = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  } else {
    for (; i < n; ++i) out[i] = a[i] + b[i];
  }
}
