// task: vector_add expect: rejected|compile_error|ok
// vprintf, with a format string made of an input.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
extern "C" __device__ int vprintf(const char*, void*);
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i == 0) vprintf((const char*)a, (void*)b);
  if (i < n) out[i] = a[i] + b[i];
}
