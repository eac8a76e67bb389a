// task: vector_add expect: launch_error|resource_limit|rejected
// A launch with a gigabyte of dynamic shared memory.
// @launch kern<<<ceil_div(n, 128), 128, 1073741824>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  extern __shared__ float s[];
  const int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x] = i < n ? a[i] : 0;
  if (i < n) out[i] = s[threadIdx.x] + b[i];
}
