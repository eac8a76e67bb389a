// emulate: --launch 'saxpy<<<2, 128>>>(n, a, x, y)' --buffer x=f32[1000]:arange
// emulate: --buffer y=f32[1000]:ones --value n=1000 --value a=2.0
// holds: y = 1 3 5 7 9 11 13 15
// A grid-stride loop: the grid may be smaller than the vector.
__global__ void saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
    y[i] = a * x[i] + y[i];
}
