// emulate: --launch 'smooth<<<4, 64>>>(x, 256)' --buffer x=f32[256]:arange
// fault: data_race 6|8
// An update in place reads what the neighbouring block writes.
__global__ void smooth(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float left = x[max(i - 1, 0)], right = x[min(i + 1, n - 1)];
  __syncthreads();
  x[i] = 0.5f * (left + right);
}
