// Quantisation by rows, symmetric and with zero points, packed bytes.
__global__ void quantize_rows(const float* x, signed char* q, float* scale, int cols) {
  __shared__ float top;
  if (threadIdx.x == 0) top = 0;
  __syncthreads();
  float m = 0;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) m = fmaxf(m, fabsf(x[(size_t)blockIdx.x * cols + c]));
  for (int o = 16; o; o >>= 1) m = fmaxf(m, __shfl_xor_sync(~0u, m, o));
  if (threadIdx.x % 32 == 0) atomicMax((int*)&top, __float_as_int(m));
  __syncthreads();
  const float s = fmaxf(top, 1e-8f) / 127.f;
  if (threadIdx.x == 0) scale[blockIdx.x] = s;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) q[(size_t)blockIdx.x * cols + c] = (signed char)__float2int_rn(x[(size_t)blockIdx.x * cols + c] / s);
}
__global__ void quantize_packed(const float4* x, char4* q, int n, float inverse, int zero) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float4 v = x[i];
  const auto one = [&](float f) { return (signed char)min(127, max(-128, (int)rintf(f * inverse) + zero)); };
  q[i] = make_char4(one(v.x), one(v.y), one(v.z), one(v.w));
}
__global__ void dequantize(const unsigned char* q, float* x, const float* scale, const int* zero, int cols, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = ((int)q[i] - zero[i / cols]) * scale[i / cols];
}
