// task: vector_add expect: runtime_fault|rejected|compile_error
// A generic access that crosses from one window of memory into another.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  __shared__ float s[4];
  s[0] = 1;
  volatile char* p = (volatile char*)s;
  for (long long at = 1ll << 20; at < 1ll << 25; at += 1 << 18) p[at] = 1;
  for (long long at = -4096; at > -(1ll << 25); at -= 1 << 18) p[at] = 1;
  if (i < n) out[i] = a[i] + b[i];
}
