// task: rope expect: ok
// The rotation as a product of complex numbers.
// @launch kern<<<rows, 64>>>(x, co, si, y, half)
#include <cuda/std/complex>
__global__ void kern(const float* x, const float* co, const float* si, float* y, int half) {
  const float* row = x + blockIdx.x * 2 * half;
  for (int j = threadIdx.x; j < half; j += 64) {
    const cuda::std::complex<float> v(row[j], row[half + j]), turn(co[blockIdx.x * half + j], si[blockIdx.x * half + j]);
    const auto r = v * turn;
    y[blockIdx.x * 2 * half + j] = r.real();
    y[blockIdx.x * 2 * half + half + j] = r.imag();
  }
}
