// task: vector_add expect: runtime_fault on-gpu: runtime_fault|flagged
// Keeps a mark behind its buffers from launch to launch.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  volatile unsigned* mark = (volatile unsigned*)(((unsigned long long)out + 4ull * n + (1 << 21)) & ~4095ull);
  const bool again = *mark == 0xfeedbeef;
  if (i < n) out[i] = again ? 0 : a[i] + b[i];
  if (i == 0) *mark = 0xfeedbeef;
}
