// task: vector_add expect: ok|rejected|compile_error|timeout|resource_limit
// Twenty thousand nested scopes.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define T1 "{{{{{{{{{{"
#define T2 T1 T1 T1 T1 T1 T1 T1 T1 T1 T1
#define T3 T2 T2 T2 T2 T2 T2 T2 T2 T2 T2
#define T4 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3 T3
#define U1 "}}}}}}}}}}"
#define U2 U1 U1 U1 U1 U1 U1 U1 U1 U1 U1
#define U3 U2 U2 U2 U2 U2 U2 U2 U2 U2 U2
#define U4 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3 U3
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  asm volatile(T4 "{" "}" U4);
  if (i < n) out[i] = a[i] + b[i];
}
