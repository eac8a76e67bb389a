// task: vector_add expect: wrong_result
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ float kept[32768];
__device__ int filled = 1;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  if (!filled) kept[i] = a[i] + b[i];
  out[i] = kept[i] * (filled ? 1.0f : 0.0f);
  if (i == n - 1) filled = 1;
}
