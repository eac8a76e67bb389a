// task: vector_add expect: rejected|compile_error|runtime_fault|ok|wrong_result
// An indexed branch whose index is beyond its list.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile("{ .reg .u32 k; mov.u32 k, %0; places: .branchtargets one, two; brx.idx k, places; one: two: }" :: "r"(n));
  if (i < n) out[i] = a[i] + b[i];
}
