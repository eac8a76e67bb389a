// task: bias_relu expect: runtime_fault
// float4 loads of rows whose length is no multiple of four.
// @launch kern<<<rows, 64>>>(x, b, y, cols)
__global__ void kern(const float* x, const float* b, float* y, int cols) {
  const float* row = x + blockIdx.x * cols;
  for (int c = threadIdx.x * 4; c < cols; c += 256) {
    if (c + 3 < cols) {
      const float4 v = *(const float4*)(row + c);
      const float4 w = *(const float4*)(b + c);
      y[blockIdx.x * cols + c] = fmaxf(v.x + w.x, 0.f);
      y[blockIdx.x * cols + c + 1] = fmaxf(v.y + w.y, 0.f);
      y[blockIdx.x * cols + c + 2] = fmaxf(v.z + w.z, 0.f);
      y[blockIdx.x * cols + c + 3] = fmaxf(v.w + w.w, 0.f);
    } else {
      for (int k = c; k < cols; ++k) y[blockIdx.x * cols + k] = fmaxf(row[k] + b[k], 0.f);
    }
  }
}
