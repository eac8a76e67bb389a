// task: vector_add expect: runtime_fault|rejected|compile_error on-gpu: runtime_fault|rejected|compile_error|ok
// A vector of two doubles at an address of eight; ptxas may drop the load, as nobody reads what it loads.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{.reg .f64 x, y; ld.global.v2.f64 {x, y}, [%0];}" :: "l"(a + 2) : "memory");
  if (i < n) out[i] = a[i] + b[i];
}
