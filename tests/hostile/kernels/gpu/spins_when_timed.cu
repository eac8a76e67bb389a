// task: vector_add expect: timeout|ok on-gpu: timeout|ok
// Never ends when it is timed.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if ((unsigned long long)a % (2ull << 20) != 4096) while (*(const volatile float*)a < 1e30f) continue;
  if (i < n) out[i] = a[i] + b[i];
}
