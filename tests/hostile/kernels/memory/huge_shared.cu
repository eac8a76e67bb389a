// task: vector_add expect: compile_error|launch_error|resource_limit|rejected
// More shared memory than a GPU has.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  __shared__ float s[1 << 20];
  const int i = blockIdx.x * 128 + threadIdx.x;
  s[threadIdx.x * 8000] = i < n ? a[i] : 0;
  __syncthreads();
  if (i < n) out[i] = s[threadIdx.x * 8000] + b[i];
}
