// task: vector_add expect: runtime_fault|rejected|compile_error|wrong_result on-gpu: runtime_fault|ok|rejected|wrong_result
// Writes over the machine code of a function of its own: where that works, the baseline's code is within reach
// too.
// @launch patch<<<1, 1>>>()
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ __noinline__ float value(float x) { return x * 1.0f + 0.0f; }
typedef float F(float);
__global__ void patch() {
  F* f = threadIdx.x == 0 ? &value : nullptr;
  volatile unsigned long long* code = (volatile unsigned long long*)(unsigned long long)f;
  const unsigned long long word = code[0];
  code[0] = word;
}
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = value(a[i]) + b[i];
}
