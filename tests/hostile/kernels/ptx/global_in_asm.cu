// task: vector_add expect: ok|rejected|compile_error
// A .global declared inside of a function, a cache that the front end does not see.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.global .u32 hidden; st.global.u32 [hidden], 1;}" ::: "memory");
  if (i < n) out[i] = a[i] + b[i];
}
