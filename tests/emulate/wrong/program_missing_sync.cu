// emulate: --launch 'rotate<<<1, 96>>>(d, 96)' --buffer d=f32[96]:arange
// fault: uninitialised_shared 9
// A whole program; its kernel reads its neighbour's cell too early.
#include <cstdio>
__global__ void rotate(float* d, int n) {
  extern __shared__ float unused[];
  __shared__ float s[96];
  s[threadIdx.x] = d[threadIdx.x];
  d[threadIdx.x] = s[(threadIdx.x + 33) % n];
}
int main() {
  float host[96], *d;
  for (int i = 0; i < 96; ++i) host[i] = i;
  cudaMalloc(&d, sizeof host);
  cudaMemcpy(d, host, sizeof host, cudaMemcpyHostToDevice);
  rotate<<<1, 96>>>(d, 96);
  cudaMemcpy(host, d, sizeof host, cudaMemcpyDeviceToHost);
  std::printf("%g\n", host[0]);
}
