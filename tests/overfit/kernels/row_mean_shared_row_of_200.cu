// task: row_mean
// @launch mean<<<h, 32>>>(data, out, w)
__global__ void mean(const float* data, float* out, int w) {
  __shared__ float row[200];
  for (int j = threadIdx.x; j < w; j += 32) row[j] = data[blockIdx.x * w + j];
  __syncthreads();
  if (threadIdx.x == 0) {
    float acc = 0.0f;
    for (int j = 0; j < w; j++) acc += row[j];
    out[blockIdx.x] = acc / w;
  }
}
