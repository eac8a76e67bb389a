// emulate: --launch 'largest<<<4, 64>>>(x, out, 250)' --buffer x=f32[250]:arange --buffer out=f32[1]:-1
// holds: out = 249
// A maximum of floats by a loop of compare and swap.
__device__ float atomic_max(float* address, float value) {
  int* as_int = (int*)address;
  int old = *as_int, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
  } while (assumed != old);
  return __int_as_float(old);
}
__global__ void largest(const float* x, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomic_max(out, x[i]);
}
