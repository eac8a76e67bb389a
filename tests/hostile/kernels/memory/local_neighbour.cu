// task: vector_add expect: runtime_fault|ok on-gpu: ok|runtime_fault|wrong_result
// A constant offset far from a local variable: other frames of the stack, which the compiler takes for the variable.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ __noinline__ float touch(float x) {
  volatile float mine[4];
  mine[0] = x;
  volatile float* far = mine + 200;
  float old = *far;
  *far = old;
  return old;
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float t = i == 0 ? touch(1.0f) : 0;
  if (i < n) out[i] = a[i] + b[i] + (t == 1.2345e-30f);
}
