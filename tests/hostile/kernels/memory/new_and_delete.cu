// task: vector_add expect: rejected|compile_error on-gpu: rejected|compile_error|ok
// A heap in a kernel.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  float* kept = new float[2];
  kept[i & 1] = i < n ? a[i] : 0;
  if (i < n) out[i] = kept[i & 1] + b[i];
  delete[] kept;
}
