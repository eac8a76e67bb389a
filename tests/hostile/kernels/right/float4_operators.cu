// task: bias_relu expect: ok
// Operators on float4 by reference and by value.
// @launch kern<<<rows, 64>>>(x, b, y, cols)
__device__ __forceinline__ float4 operator+(float4 a, const float4& b) { return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ __forceinline__ float4 relu(float4 v) { return make_float4(fmaxf(v.x, 0.f), fmaxf(v.y, 0.f), fmaxf(v.z, 0.f), fmaxf(v.w, 0.f)); }
__global__ void kern(const float* x, const float* bias, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  float* to = y + blockIdx.x * cols;
  const bool wide = cols % 4 == 0;
  if (wide) {
    for (int c = threadIdx.x; c < cols / 4; c += blockDim.x) {
      const float4 v = reinterpret_cast<const float4*>(row)[c];
      const float4 w = reinterpret_cast<const float4*>(bias)[c];
      reinterpret_cast<float4*>(to)[c] = relu(v + w);
    }
  } else {
    for (int c = threadIdx.x; c < cols; c += blockDim.x) to[c] = fmaxf(row[c] + bias[c], 0.f);
  }
}
