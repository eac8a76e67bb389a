// task: vector_add expect: ok|compile_error|timeout|resource_limit|rejected
// A string of ten megabytes in constant memory.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define A1 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define A2 A1 A1 A1 A1 A1 A1 A1 A1 A1 A1
#define A3 A2 A2 A2 A2 A2 A2 A2 A2 A2 A2
#define A4 A3 A3 A3 A3 A3 A3 A3 A3 A3 A3
#define A5 A4 A4 A4 A4 A4 A4 A4 A4 A4 A4
__device__ const char kText[] = A5 A5 A5 A5 A5 A5 A5 A5 A5 A5;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  n += kText[i] == 1;
  if (i < n) out[i] = a[i] + b[i];
}
