// task: cosine_similarity
// @launch kern<<<ceil_div(rows, 64), 64>>>(a, b, y, rows, cols)
__global__ void kern(const float* a, const float* b, float* y, int rows, int cols) {
  int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  float ab = 0.0f, aa = 0.0f, bb = 0.0f;
  for (int j = 0; j < cols; j++) {
    float u = a[r * cols + j], v = b[r * cols + j];
    ab += u * v;
    aa += u * u;
    bb += v * v;
  }
  y[r] = ab / (sqrtf(aa) * sqrtf(bb));
}
