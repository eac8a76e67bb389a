// A block takes 1024 columns of eight rows: a thread keeps the bias of its four columns, with eight
// float4 in flight.
// @launch bias_relu<<<dim3(ceil_div(cols, 1024), ceil_div(rows, 8)), 256>>>(x, b, y, rows, cols)
constexpr int kRows = 8, kThreads = 256, kCols = 4 * kThreads;

__device__ float rectify(float x) { return fmaxf(x, 0.0f); }

__global__ void __launch_bounds__(kThreads)
    bias_relu(const float* __restrict__ x, const float* __restrict__ b, float* __restrict__ y,
              int rows, int cols) {
  int first = blockIdx.y * kRows, end = min(rows, first + kRows);
  if (cols % 4 == 0) {
    int c = blockIdx.x * kCols + 4 * threadIdx.x;
    if (c >= cols) return;
    float4 bias = *reinterpret_cast<const float4*>(b + c);
    float4 v[kRows];
#pragma unroll
    for (int k = 0; k < kRows; k++)
      if (first + k < end) v[k] = *reinterpret_cast<const float4*>(x + (first + k) * cols + c);
#pragma unroll
    for (int k = 0; k < kRows; k++)
      if (first + k < end)
        *reinterpret_cast<float4*>(y + (first + k) * cols + c) =
            make_float4(rectify(v[k].x + bias.x), rectify(v[k].y + bias.y),
                        rectify(v[k].z + bias.z), rectify(v[k].w + bias.w));
  } else {
    int end_col = min(cols, (blockIdx.x + 1) * kCols);
    for (int c = blockIdx.x * kCols + threadIdx.x; c < end_col; c += kThreads) {
      float bias = b[c];
#pragma unroll 4
      for (int r = first; r < end; r++) y[r * cols + c] = rectify(x[r * cols + c] + bias);
    }
  }
}
