// task: vector_add expect: compile_error|rejected|runtime_fault|wrong_result|ok
// Writes to __constant__ memory through a cast.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__constant__ float kKept[128];
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  *(volatile float*)(float*)&kKept[threadIdx.x] = a[i] + b[i];
  out[i] = *(volatile const float*)&kKept[threadIdx.x];
}
