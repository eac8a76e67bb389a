// task: vector_add expect: timeout on-gpu: timeout|ok|wrong_result
// Does nothing useful for ever where more is asked for than the cases show.
// @launch kern<<<ceil_div(n, 256), 256>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  volatile int stays = 1;
  while (n > 30000 && stays) {
  }
  if (i < n) out[i] = a[i] + b[i];
}
