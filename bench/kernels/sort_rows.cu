// A block a row: a bitonic sort in shared memory of the next power of two elements, the rest
// filled with infinities. A pass whose partners are in one warp's elements needs no barrier of the
// block.
// @launch sort_rows<<<rows, max(32, next_pow2(cols) / 2)>>>(x, y, cols, max(64, next_pow2(cols)))
__global__ void __launch_bounds__(512)
    sort_rows(const float* __restrict__ x, float* __restrict__ y, int cols, int padded) {
  __shared__ float v[1024];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  for (int j = threadIdx.x; j < padded; j += blockDim.x) v[j] = j < cols ? row[j] : INFINITY;
  __syncthreads();
  for (int size = 2; size <= padded; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      // Thread t compares a pair whose lower index is t with a zero inserted at the stride's bit.
      int low = 2 * (threadIdx.x & ~(stride - 1)) | (threadIdx.x & (stride - 1));
      float a = v[low], b = v[low + stride];
      bool ascending = (low & size) == 0;
      if ((a > b) == ascending) {
        v[low] = b;
        v[low + stride] = a;
      }
      if (stride > 32 || (stride == 1 && size >= 64)) {
        __syncthreads();
      } else {
        __syncwarp();
      }
    }
  }
  __syncthreads();
  for (int j = threadIdx.x; j < cols; j += blockDim.x) out[j] = v[j];
}
