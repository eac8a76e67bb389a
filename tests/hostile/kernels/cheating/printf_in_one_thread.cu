// task: vector_add expect: ok|rejected
// A forgotten printf.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) printf("n = %d, %f, %s\n", n, (double)a[0], "text");
  if (i < n) out[i] = a[i] + b[i];
}
