// task: relu expect: ok
// A union and __float_as_uint for the sign, uint4 loads.
// @launch kern<<<ceil_div(size, 4 * 128), 128>>>(inp, out, size)
union Word { float f; unsigned u; };
__device__ __forceinline__ unsigned clip(unsigned u) { Word w; w.u = u; return w.f > 0.f ? u : 0u; }
__global__ void kern(const float* x, float* y, int size) {
  int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
  if (i + 3 < size) {
    uint4 v = *reinterpret_cast<const uint4*>(x + i);
    v.x = clip(v.x); v.y = clip(v.y); v.z = clip(v.z); v.w = clip(v.w);
    *reinterpret_cast<uint4*>(y + i) = v;
  } else for (; i < size; ++i) y[i] = __uint_as_float(clip(__float_as_uint(x[i])));
}
