// task: vector_add expect: rejected|compile_error|resource_limit|launch_error
// A gigabyte of .shared, declared in asm.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.shared .align 4 .b8 much[1073741824]; st.shared.u32 [much], 1;}");
  if (i < n) out[i] = a[i] + b[i];
}
