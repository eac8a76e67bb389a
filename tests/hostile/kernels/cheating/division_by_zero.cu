// task: vector_add expect: wrong_result|runtime_fault|ok on-gpu: wrong_result|ok
// An integer division by zero, which a GPU does not stop for.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i] + (float)(i / (n - n));
}
