// task: vector_add expect: ok|rejected|compile_error|launch_error
// The list of parameters of the harness' record lies anywhere.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define parameters parameters + 100000000
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
