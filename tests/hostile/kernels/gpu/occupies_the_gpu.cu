// task: vector_add expect: ok|timeout on-gpu: ok|flagged|timeout
// A block that stays a little longer than its launch needs, so that the next one begins late.
// @launch kern<<<ceil_div(n, 128) + 1, 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
  if (blockIdx.x == gridDim.x - 1)
    for (int k = 0; k < 20; ++k) __nanosleep(1000);
}
