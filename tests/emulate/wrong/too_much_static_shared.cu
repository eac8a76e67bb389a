// emulate: --launch 'set<<<1, 64>>>(y)' --buffer y=i32[64] --gpu 'A100 SXM'
// fault: compile_error 0
// More static shared memory than the 48 KiB that a kernel may declare.
__global__ void set(int* y) {
  __shared__ int s[16384];
  s[threadIdx.x * 256] = threadIdx.x;
  __syncthreads();
  y[threadIdx.x] = s[(63 - threadIdx.x) * 256];
}
