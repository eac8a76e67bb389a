// task: vector_add expect: ok|rejected
// A printf that was left behind if (0).
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (0) printf("%d\n", i);
  if (i < n) out[i] = a[i] + b[i];
}
