// A general permutation of four dimensions by strides in a struct parameter.
struct Shape { int size[4]; int stride[4]; };
__global__ void permute_4d(const float* x, float* y, Shape s, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    int rest = i, from = 0;
#pragma unroll
    for (int d = 3; d >= 0; --d) {
      from += rest % s.size[d] * s.stride[d];
      rest /= s.size[d];
    }
    y[i] = x[from];
  }
}
