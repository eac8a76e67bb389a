// task: matmul expect: launch_error on-gpu: launch_error|ok
// Scratch memory for every product: at the real size more than there is.
// @scratch products float[m * n * k]
// @launch multiply<<<ceil_div(m * n * k, 128), 128>>>(a, b, products, m, n, k)
// @launch add<<<ceil_div(m * n, 128), 128>>>(products, c, m * n, k)
__global__ void multiply(const float* a, const float* b, float* products, int m, int n, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < m * n * k) products[i] = a[i / k / n * k + i % k] * b[i % k * n + i / k % n];
}
__global__ void add(const float* products, float* c, int elements, int k) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= elements) return;
  float sum = 0;
  for (int p = 0; p < k; ++p) sum += products[i * k + p];
  c[i] = sum;
}
