// Batched products with strides of 64 bits and transposition flags.
__global__ void matmul_batched(const float* a, const float* b, float* c, int m, int n, int k, long long sa, long long sb, long long sc, bool ta, bool tb) {
  a += blockIdx.z * sa;
  b += blockIdx.z * sb;
  c += blockIdx.z * sc;
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= m || j >= n) return;
  float sum = 0;
  for (int e = 0; e < k; ++e) sum = fmaf(ta ? a[e * m + i] : a[i * k + e], tb ? b[j * k + e] : b[e * n + j], sum);
  c[i * n + j] = sum;
}
