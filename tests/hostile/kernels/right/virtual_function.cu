// task: relu expect: ok|rejected
// A virtual call through a base: an indirect call unless the compiler sees through it.
// @launch kern<<<ceil_div(size, 256), 256>>>(inp, out, size)
struct Op { __device__ virtual float value(float v) const { return v; } };
struct Relu : Op { __device__ float value(float v) const override { return fmaxf(v, 0.0f); } };
struct Clip : Op { __device__ float value(float v) const override { return v < 0 ? 0.0f : v; } };
__global__ void kern(const float* inp, float* out, int size) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  Relu relu;
  Clip clip;
  const Op* op = i % 2 ? (const Op*)&relu : &clip;
  if (i < size) out[i] = op->value(inp[i]);
}
