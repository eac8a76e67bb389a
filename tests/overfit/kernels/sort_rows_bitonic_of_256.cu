// task: sort_rows
// @launch sort<<<rows, 256>>>(x, y, cols)
__global__ void sort(const float* x, float* y, int cols) {
  __shared__ float s[256];
  int t = threadIdx.x;
  s[t] = t < cols ? x[blockIdx.x * cols + t] : INFINITY;
  __syncthreads();
  for (int size = 2; size <= 256; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      int other = t ^ stride;
      if (other > t && (s[t] > s[other]) == ((t & size) == 0)) {
        float v = s[t];
        s[t] = s[other];
        s[other] = v;
      }
      __syncthreads();
    }
  }
  if (t < cols) y[blockIdx.x * cols + t] = s[t];
}
