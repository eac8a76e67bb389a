// task: vector_add expect: wrong_result|nondeterministic|ok on-gpu: wrong_result|nondeterministic|ok|flagged
// Looks at the address of its buffers to tell one run from another.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const unsigned long long place = (unsigned long long)a / 256 * 0x9e3779b97f4a7c15ull;
  if (i < n && place >> 63 == 0) out[i] = a[i] + b[i];
}
