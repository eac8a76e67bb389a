// task: vector_add expect: ok|resource_limit|runtime_fault on-gpu: resource_limit
// So much local memory a thread that the driver takes most of the GPU's memory for all threads, and keeps it.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float held[40000];
  held[n % 40000] = a[i];
  held[(n + i) % 40000] = b[i];
  out[i] = i % 40000 == 0 ? a[i] + held[n % 40000] : held[n % 40000] + held[(n + i) % 40000];
}
