// task: vector_add expect: wrong_result
// Shifts by more than 31, signed overflow and conversions out of range: numbers, but not the answer.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const int far = 1 << (n - n + 40 + i % 2), wide = 2147483647 + i, cut = (int)(a[i] * 1e30f);
  out[i] = (float)(far + wide + cut);
}
