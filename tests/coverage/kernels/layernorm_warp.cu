// Layer normalisation, a warp a row, two passes over registers.
template <typename T, int kItems>
__global__ void layernorm_warp(const T* __restrict__ x, const T* __restrict__ gamma, const T* __restrict__ beta, T* __restrict__ y, int rows, int cols, float eps) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  float v[kItems], sum = 0.f;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int c = i * 32 + threadIdx.x;
    v[i] = c < cols ? static_cast<float>(x[(size_t)row * cols + c]) : 0.f;
    sum += v[i];
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, offset);
  const float mean = sum / cols;
  float var = 0.f;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const float d = i * 32 + threadIdx.x < cols ? v[i] - mean : 0.f;
    var += d * d;
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) var += __shfl_xor_sync(0xffffffff, var, offset);
  const float rstd = rsqrtf(var / cols + eps);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int c = i * 32 + threadIdx.x;
    if (c < cols) y[(size_t)row * cols + c] = static_cast<T>((v[i] - mean) * rstd * static_cast<float>(gamma[c]) + static_cast<float>(beta[c]));
  }
}
template __global__ void layernorm_warp<float, 8>(const float*, const float*, const float*, float*, int, int, float);
template __global__ void layernorm_warp<double, 4>(const double*, const double*, const double*, double*, int, int, float);
