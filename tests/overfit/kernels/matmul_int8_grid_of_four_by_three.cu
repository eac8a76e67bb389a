// task: matmul_int8
// @launch product<<<dim3(3, 4), dim3(16, 16)>>>(a, b, c, m, n, words)
__global__ void product(const int* a, const int* b, int* c, int m, int n, int words) {
  int r = blockIdx.y * 16 + threadIdx.y, j = blockIdx.x * 16 + threadIdx.x;
  if (r >= m || j >= n) return;
  int sum = 0;
  for (int w = 0; w < words; w++) sum = __dp4a(a[r * words + w], b[j * words + w], sum);
  c[r * n + j] = sum;
}
