// Matrix times vector: a warp a row, and by columns with atomics.
__global__ void matvec_rows(const float4* a, const float4* x, float* y, int rows, int n4) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  float s = 0;
  for (int c = lane; c < n4; c += 32) {
    const float4 p = a[(size_t)row * n4 + c], q = __ldg(x + c);
    s += p.x * q.x + p.y * q.y + p.z * q.z + p.w * q.w;
  }
#pragma unroll
  for (int o = 16; o; o >>= 1) s += __shfl_xor_sync(0xffffffff, s, o);
  if (lane == 0) y[row] = s;
}
__global__ void matvec_columns(const float* a, const float* x, float* y, int rows, int cols) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x, r0 = blockIdx.y * 64;
  if (c >= cols) return;
  float s = 0;
  for (int r = r0; r < min(rows, r0 + 64); ++r) s += a[(size_t)r * cols + c] * x[r];
  atomicAdd(y + c, s);
}
