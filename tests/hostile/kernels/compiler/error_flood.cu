// task: vector_add expect: compile_error
// Ten thousand errors.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define E1 nothing1 nothing2; nothing3 nothing4;
#define E2 E1 E1 E1 E1 E1 E1 E1 E1 E1 E1
#define E3 E2 E2 E2 E2 E2 E2 E2 E2 E2 E2
#define E4 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3 E3
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  E4
  if (i < n) out[i] = a[i] + b[i];
}
