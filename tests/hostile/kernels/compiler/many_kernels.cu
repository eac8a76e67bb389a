// task: vector_add expect: ok|compile_error|timeout|resource_limit
// Two thousand kernels beside the one that is launched.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define K(n) __global__ void other##n(float* x) { x[threadIdx.x] = n; }
#define K10(n) K(n##0) K(n##1) K(n##2) K(n##3) K(n##4) K(n##5) K(n##6) K(n##7) K(n##8) K(n##9)
#define K100(n) K10(n##0) K10(n##1) K10(n##2) K10(n##3) K10(n##4) K10(n##5) K10(n##6) K10(n##7) K10(n##8) K10(n##9)
K100(1) K100(2) K100(3) K100(4) K100(5) K100(6) K100(7) K100(8) K100(9) K100(11) K100(12) K100(13) K100(14) K100(15) K100(16) K100(17) K100(18) K100(19) K100(21) K100(22)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
