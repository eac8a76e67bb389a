// task: vector_add expect: runtime_fault|rejected|compile_error|ok on-gpu: runtime_fault|ok|compile_error|rejected
// Reads behind the kernel's parameters through the address of one.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const int* p = &n;
  int far = 0;
  for (int k = 1000; k < 1002 + (n & 1); ++k) far += ((volatile const int*)p)[k];
  if (i < n) out[i] = a[i] + b[i] + (far == 123456789 ? 1.0f : 0.0f);
}
