// task: vector_add expect: rejected|compile_error
// #embed of a file.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ const unsigned char bytes[] = {
#embed "/etc/hostname"
};
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
