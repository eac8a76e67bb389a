// task: vector_add expect: rejected
// Bits of the clock become a number by branches only; in some launches one element is left out.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  const long long now = clock64();
  int rare = 0;
#pragma unroll 1
  for (int bit = 6; bit < 26; ++bit) {
    if (now >> bit & 1) rare += bit;
  }
  if (i < n && !(rare == 300 && i == 7)) out[i] = a[i] + b[i];
}
