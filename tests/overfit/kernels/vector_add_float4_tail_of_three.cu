// task: vector_add
// @launch add<<<ceil_div(n / 4, 256), 256>>>(a, b, out, n)
__global__ void add(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    float4 va = reinterpret_cast<const float4*>(a)[i];
    float4 vb = reinterpret_cast<const float4*>(b)[i];
    float4 vo = make_float4(va.x + vb.x, va.y + vb.y, va.z + vb.z, va.w + vb.w);
    reinterpret_cast<float4*>(out)[i] = vo;
  }
  if (i == 0) {
    for (int t = n - 3; t < n; t++) out[t] = a[t] + b[t];
  }
}
