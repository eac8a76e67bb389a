// emulate: --launch 'sum<<<2, 64>>>(x, out, 100)' --buffer x=f64[100]:arange --buffer out=f64[1]:zeros
// holds: out = 4950
// The programming guide's atomic addition for doubles on old devices.
__device__ double add(double* address, double val) {
  unsigned long long int* as_ull = (unsigned long long int*)address;
  unsigned long long int old = *as_ull, assumed;
  do {
    assumed = old;
    old = atomicCAS(as_ull, assumed, __double_as_longlong(val + __longlong_as_double(assumed)));
  } while (assumed != old);
  return __longlong_as_double(old);
}
__global__ void sum(const double* x, double* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) add(out, x[i]);
}
