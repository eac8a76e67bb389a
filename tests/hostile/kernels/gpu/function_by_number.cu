// task: vector_add expect: rejected|runtime_fault|compile_error
// A call of an address that a number makes: the check sees (*)( only.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
typedef void F();
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) ((F*)(0x100000000ull + n))();
  if (i < n) out[i] = a[i] + b[i];
}
