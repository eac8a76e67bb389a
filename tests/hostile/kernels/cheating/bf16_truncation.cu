// task: vector_add expect: wrong_result
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ float cut(float x) { return __uint_as_float(__float_as_uint(x) & 0xffff0000u); }
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = cut(cut(a[i]) + cut(b[i]));
}
