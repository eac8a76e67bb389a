// task: vector_add expect: ok
// Float4 through functions by value: ordinary CUDA.
// @launch kern<<<ceil_div(ceil_div(n, 4), 128), 128>>>(a, b, out, n)
__device__ float4 add(float4 x, float4 y) { return make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w); }
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float4* a4 = reinterpret_cast<const float4*>(a);
  const float4* b4 = reinterpret_cast<const float4*>(b);
  float4* o4 = reinterpret_cast<float4*>(out);
  if (4 * i + 3 < n) o4[i] = add(a4[i], b4[i]);
  else for (int k = 4 * i; k < n; ++k) out[k] = a[k] + b[k];
}
