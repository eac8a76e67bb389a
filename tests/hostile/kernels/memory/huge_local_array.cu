// task: vector_add expect: compile_error|resource_limit|runtime_fault|launch_error|ok|rejected
// Half a megabyte of local memory in each thread.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  volatile float kept[120000];
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  kept[i * 7 % 120000] = a[i];
  out[i] = kept[i * 7 % 120000] + b[i];
}
