// task: vector_add expect: timeout|ok on-gpu: timeout
// Never ends when it is timed.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int spin = 1;
  if ((unsigned long long)a % (2ull << 20) != 4096) while (spin) continue;
  if (i < n) out[i] = a[i] + b[i];
}
