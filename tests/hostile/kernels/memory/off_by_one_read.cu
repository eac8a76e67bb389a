// task: vector_add expect: runtime_fault on-gpu: ok|runtime_fault
// The last thread reads one element behind the input.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float next = i <= n - 1 ? a[i + 1] : 0.0f;
  if (i < n) out[i] = a[i] + b[i] + (next == 1.2345e-30f ? 1.0f : 0.0f);
}
