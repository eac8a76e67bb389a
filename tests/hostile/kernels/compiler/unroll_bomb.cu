// task: vector_add expect: ok|timeout|resource_limit|compile_error
// Loops unrolled a hundred million times.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float s = 0;
  #pragma unroll
  for (int x = 0; x < 10000; ++x)
  #pragma unroll
    for (int y = 0; y < 10000; ++y) s += a[(x * y + i) % n];
  n += s == 1.2345e30f;
  if (i < n) out[i] = a[i] + b[i];
}
