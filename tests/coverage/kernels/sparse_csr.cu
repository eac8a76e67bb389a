// CSR matrix times vector, scalar and by warps; times a dense matrix.
__global__ void spmv_scalar(const int* row_ptr, const int* col, const float* val, const float* x, float* y, int rows) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float s = 0;
  for (int i = row_ptr[r]; i < row_ptr[r + 1]; ++i) s += val[i] * x[col[i]];
  y[r] = s;
}
template <int LANES> __global__ void spmv_vector(const int* row_ptr, const int* col, const float* val, const float* __restrict__ x, float* y, int rows) {
  const int r = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
  float s = 0;
  if (r < rows)
    for (int i = row_ptr[r] + lane, end = row_ptr[r + 1]; i < end; i += LANES) s = fmaf(val[i], __ldg(x + col[i]), s);
#pragma unroll
  for (int o = LANES / 2; o; o >>= 1) s += __shfl_down_sync(0xffffffffu, s, o, LANES);
  if (r < rows && lane == 0) y[r] = s;
}
template __global__ void spmv_vector<4>(const int*, const int*, const float*, const float*, float*, int);
template __global__ void spmv_vector<16>(const int*, const int*, const float*, const float*, float*, int);
__global__ void spmm(const int* row_ptr, const int* col, const float* val, const float* b, float* c, int n) {
  for (int j = threadIdx.x; j < n; j += blockDim.x) {
    float s = 0;
    for (int i = row_ptr[blockIdx.x]; i < row_ptr[blockIdx.x + 1]; ++i) s += val[i] * b[(size_t)col[i] * n + j];
    c[(size_t)blockIdx.x * n + j] = s;
  }
}
