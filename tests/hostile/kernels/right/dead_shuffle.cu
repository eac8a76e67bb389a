// task: vector_add expect: ok
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float unused = __shfl_down_sync(0xffffffffu, 1.0f, 1);
  if (i < n) out[i] = a[i] + b[i] + 0.0f * unused;
}
