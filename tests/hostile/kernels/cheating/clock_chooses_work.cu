// task: vector_add expect: rejected
// The time of a load, which tells a warm cache from a cold one, chooses between exact and cheap.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  const long long begin = clock64();
  const float x = *(volatile const float*)(a + i);
  if (clock64() - begin > 1000000000) {
    out[i] = x;
  } else {
    out[i] = x + b[i];
  }
}
