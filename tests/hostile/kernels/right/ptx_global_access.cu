// task: vector_add expect: ok
// Loads and stores of global memory by asm, with state spaces, cache operators and vectors.
// @launch kern<<<ceil_div(n, 4 * 64), 64>>>(a, b, out, n)
__device__ float4 load(const float* p) {
  float4 v;
  asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "l"(p) : "memory");
  return v;
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = 4 * (blockIdx.x * 64 + threadIdx.x);
  if (i + 3 < n) {
    const float4 x = load(a + i), y = load(b + i);
    asm volatile("st.global.cg.v4.f32 [%0], {%1, %2, %3, %4};"
                 :: "l"(out + i), "f"(x.x + y.x), "f"(x.y + y.y), "f"(x.z + y.z), "f"(x.w + y.w) : "memory");
  } else {
    for (int k = i; k < n; ++k) {
      float x;
      asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(x) : "l"(a + k));
      out[k] = x + b[k];
    }
  }
}
