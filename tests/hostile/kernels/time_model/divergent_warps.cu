// task: relu expect: ok max-speedup: 0.95
// The lanes of a warp go thirty-two ways.
// @launch kern<<<ceil_div(size, 128), 128>>>(inp, out, size)
template <int L> __device__ __noinline__ float way(float v, int lane) {
  if (lane == L) return v > 0 ? v : 0.0f * L;
  return way<L - 1>(v, lane);
}
template <> __device__ __noinline__ float way<-1>(float v, int) { return v; }
__global__ void kern(const float* inp, float* out, int size) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < size) out[i] = way<31>(inp[i], threadIdx.x % 32);
}
