// task: row_max expect: ok
// A sorted list in local memory that begins empty: an insertion moves places that nobody has written, and the first
// place is compared only once there is one.
// @launch kern<<<ceil_div(m, 64), 64>>>(src, dst, m, n)
struct List {
  float value[8];
  int size;
  __device__ bool takes(float v) const { return size == 0 || v > value[0]; }
  __device__ void insert(float v) {
    for (int k = 7; k > 0; k--) value[k] = value[k - 1];
    value[0] = v;
    size = size < 8 ? size + 1 : 8;
  }
};
__global__ void kern(const float* src, float* dst, int m, int n) {
  const int r = blockIdx.x * 64 + threadIdx.x;
  if (r >= m) return;
  List best;
  best.size = 0;
  for (int c = 0; c < n; c++)
    if (best.takes(src[r * n + c])) best.insert(src[r * n + c]);
  float sum = 0;
  for (int k = 0; k < best.size; k++) sum += best.value[(k + r) % best.size] * 0;
  dst[r] = best.value[0] + sum;
}
