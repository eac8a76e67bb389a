// task: vector_add expect: rejected|ok|timeout on-gpu: rejected|compile_error|timeout
// printf in every thread of every launch.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  for (int k = 0; k < 100; ++k) printf("%d %d %f\n", i, k, (double)a[i % n]);
  if (i < n) out[i] = a[i] + b[i];
}
