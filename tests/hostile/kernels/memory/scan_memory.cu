// task: vector_add expect: runtime_fault on-gpu: wrong_result|runtime_fault
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (long k = 0; k < 1000; ++k) out[i % n] += a[k * 100003];
}
