// emulate: --launch 'reduce<int, Max, 128><<<1, 128>>>(x, y)' --buffer x=i32[128]:arange --buffer y=i32[1]
// holds: y = 127
// A reduction as a template of the type, the operation and the size of the block.
struct Max {
  template <class T>
  __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};
template <class T, class Op, int SIZE>
__global__ void reduce(const T* x, T* y) {
  __shared__ T s[SIZE];
  Op op;
  s[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
#pragma unroll
  for (int h = SIZE / 2; h > 0; h /= 2) {
    if (threadIdx.x < h) s[threadIdx.x] = op(s[threadIdx.x], s[threadIdx.x + h]);
    __syncthreads();
  }
  if (threadIdx.x == 0) *y = s[0];
}
