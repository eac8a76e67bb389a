// task: vector_add expect: runtime_fault on-gpu: runtime_fault|wrong_result|ok
// A vector whose last element is outside.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) asm volatile("st.global.v4.f32 [%0], {%1, %1, %1, %1};" :: "l"((unsigned long long)(out + n - 1) & ~15ull), "f"(0.0f) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
