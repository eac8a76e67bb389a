// task: vector_add expect: rejected|compile_error|runtime_fault
// A call of a device function through a prototype that is not its own.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ float plain(float x) { return x; }
__device__ float (*volatile kFunction)(float) = plain;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  typedef double (*Other)(double, double, double);
  if (i == 0 && ((Other)kFunction)(1, 2, 3) == 4) out[0] = 1;
  if (i < n) out[i] = a[i] + b[i];
}
