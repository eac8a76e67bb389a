// task: vector_add expect: runtime_fault|wrong_result on-gpu: ok|wrong_result
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ float s[128];
  if (n == 1) s[threadIdx.x] = a[0];
  if (i < n) out[i] = a[i] + b[i] + s[threadIdx.x];
}
