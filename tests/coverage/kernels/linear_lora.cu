// A linear layer with a low-rank adapter and bias, fused.
template <int RANK> __global__ void linear_lora(const float* x, const float* w, const float* bias, const float* down, const float* up, float* y, int in, int out, float scale) {
  __shared__ float low[RANK];
  const float* row = x + (size_t)blockIdx.x * in;
  for (int r = threadIdx.x / 32; r < RANK; r += blockDim.x / 32) {
    float s = 0;
    for (int e = threadIdx.x % 32; e < in; e += 32) s += row[e] * down[r * in + e];
    for (int o = 16; o; o >>= 1) s += __shfl_down_sync(~0u, s, o);
    if (threadIdx.x % 32 == 0) low[r] = s;
  }
  __syncthreads();
  for (int j = threadIdx.x; j < out; j += blockDim.x) {
    float s = bias[j], t = 0;
    for (int e = 0; e < in; ++e) s += row[e] * w[(size_t)j * in + e];
#pragma unroll
    for (int r = 0; r < RANK; ++r) t += low[r] * up[j * RANK + r];
    y[(size_t)blockIdx.x * out + j] = fmaf(scale, t, s);
  }
}
template __global__ void linear_lora<8>(const float*, const float*, const float*, const float*, const float*, float*, int, int, float);
