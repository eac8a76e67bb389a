// task: vector_add expect: rejected|compile_error
// Vprintf, which the check does not know, through a macro for extern: a flood into the runner's standard error,
// a file in memory without a limit.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define EXT extern
__shared__ int ignored_by_the_check[1];
EXT "C" __device__ int vprintf(const char*, const char*);
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  for (int k = 0; k < 100; ++k) vprintf("0123456789012345678901234567890123456789012345678901234567890123456789\n", nullptr);
  if (i < n) out[i] = a[i] + b[i];
}
