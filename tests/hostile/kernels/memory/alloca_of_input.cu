// task: vector_add expect: rejected|compile_error|runtime_fault|timeout|ok on-gpu: rejected|compile_error|runtime_fault|timeout|ok
// Dynamic stack memory of a size known at run time.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float* kept = (float*)alloca(4 * n);
  kept[i] = a[i];
  out[i] = kept[i] + b[i];
}
