// task: vector_add expect: rejected|compile_error
// #pragma redefine_extname through a macro: a function gets the name of a hook.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ inline void decoy() {
#define HINT _Pragma
  ("unroll");
}
HINT("redefine_extname quiet __tsan_func_exit")
#define EXT extern
__shared__ int first[];
EXT "C" void quiet();
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) quiet();
  if (i < n) out[i] = a[i] + b[i];
}
