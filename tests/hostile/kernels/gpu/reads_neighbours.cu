// task: vector_add expect: runtime_fault on-gpu: ok|runtime_fault|wrong_result|flagged
// Looks for expected values in the megabytes behind its buffers; they are not in this process: where they were,
// it would copy them.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float want = a[i] + b[i];
  float found = want;
  for (int k = 1; k < 64; ++k) {
    const double e = *(const double*)(((unsigned long long)out & ~7ull) + (unsigned long long)k * 65536 + 8ull * i);
    if (fabs(e - (double)a[i] - (double)b[i]) < 1e-12) found = -1.0e30f;  // an expected value was within reach
  }
  out[i] = found;
}
