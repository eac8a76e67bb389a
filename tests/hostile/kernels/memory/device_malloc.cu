// task: vector_add expect: rejected|compile_error on-gpu: rejected|compile_error|wrong_result
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float* p = (float*)malloc(4);
  *p = a[i];
}
