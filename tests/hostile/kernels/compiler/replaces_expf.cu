// task: vector_add expect: ok|rejected|compile_error
// Defines memcpy and expf itself, with the names of hooks.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
extern "C" __global__ void unused() {}
extern "C" __global__ float expf(float x) { return x; }
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
