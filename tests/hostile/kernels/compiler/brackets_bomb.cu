// task: vector_add expect: ok|compile_error|timeout|resource_limit|rejected
// Brackets a hundred thousand deep.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define B1 ((((((((((
#define B2 B1 B1 B1 B1 B1 B1 B1 B1 B1 B1
#define B3 B2 B2 B2 B2 B2 B2 B2 B2 B2 B2
#define B4 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3 B3
#define C1 ))))))))))
#define C2 C1 C1 C1 C1 C1 C1 C1 C1 C1 C1
#define C3 C2 C2 C2 C2 C2 C2 C2 C2 C2 C2
#define C4 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3 C3
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  n += 0 * (B4 0 C4);
  if (i < n) out[i] = a[i] + b[i];
}
