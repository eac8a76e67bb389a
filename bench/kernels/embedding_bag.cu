// A thread has four neighbouring columns of a bag, with four rows of the table in flight; a column
// of it where rows are not aligned.
// @launch embedding_bag<<<ceil_div(bags * (dim % 4 == 0 ? dim / 4 : dim), 256), 256>>>(table, ids, y, bags, len, dim)
constexpr int kBatch = 4;

__device__ void add(float4& sum, float4 v) {
  sum.x += v.x;
  sum.y += v.y;
  sum.z += v.z;
  sum.w += v.w;
}
__device__ void add(float& sum, float v) { sum += v; }
__device__ void divide(float4& sum, float by) {
  sum = make_float4(sum.x / by, sum.y / by, sum.z / by, sum.w / by);
}
__device__ void divide(float& sum, float by) { sum /= by; }

template <class T>
__device__ void bag(const float* __restrict__ table, const int* __restrict__ ids,
                    float* __restrict__ y, int bags, int len, int each) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, b = i / each;
  if (b >= bags) return;
  auto column = reinterpret_cast<const T*>(table) + i % each;
  const int* own = ids + b * len;
  T sum = {};
  int j = 0;
  for (; j + kBatch <= len; j += kBatch) {
    T v[kBatch];
#pragma unroll
    for (int k = 0; k < kBatch; k++) v[k] = column[own[j + k] * each];
#pragma unroll
    for (int k = 0; k < kBatch; k++) add(sum, v[k]);
  }
  for (; j < len; j++) add(sum, column[own[j] * each]);
  divide(sum, len);
  reinterpret_cast<T*>(y)[i] = sum;
}

__global__ void __launch_bounds__(256)
    embedding_bag(const float* __restrict__ table, const int* __restrict__ ids,
                  float* __restrict__ y, int bags, int len, int dim) {
  if (dim % 4 == 0) {
    bag<float4>(table, ids, y, bags, len, dim / 4);
  } else {
    bag<float>(table, ids, y, bags, len, dim);
  }
}
