// One thread an element, for several types.
template <typename T, typename A>
__global__ void matmul_naive(const T* a, const T* b, T* c, int m, int n, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i >= m || j >= n) return;
  A sum = 0;
  for (int e = 0; e < k; ++e) sum += (A)a[i * k + e] * (A)b[e * n + j];
  c[i * n + j] = (T)sum;
}
template __global__ void matmul_naive<float, float>(const float*, const float*, float*, int, int, int);
template __global__ void matmul_naive<double, double>(const double*, const double*, double*, int, int, int);
template __global__ void matmul_naive<int, int>(const int*, const int*, int*, int, int, int);
template __global__ void matmul_naive<signed char, int>(const signed char*, const signed char*, signed char*, int, int, int);
template __global__ void matmul_naive<long long, long long>(const long long*, const long long*, long long*, int, int, int);
