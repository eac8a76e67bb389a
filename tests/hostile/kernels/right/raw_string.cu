// task: vector_add expect: ok
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ const char* text = R"x(
asm
)x";
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
