// task: relu expect: ok
// Static polymorphism: a base that knows its derived class.
// @launch kern<<<ceil_div(size, 256), 256>>>(inp, out, size)
template <typename D> struct Op {
  __device__ float apply(float v) const { return static_cast<const D*>(this)->value(v); }
};
struct Relu : Op<Relu> {
  __device__ float value(float v) const { return v > 0 ? v : 0.0f; }
};
template <typename D> __device__ void run(const Op<D>& op, const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = op.apply(x[i]);
}
__global__ void kern(const float* inp, float* out, int size) { run(Relu(), inp, out, size); }
