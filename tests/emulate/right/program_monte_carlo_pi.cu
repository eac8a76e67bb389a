// emulate: --launch 'throw_darts<<<2, 64>>>(hits, 100)' --launch 'total<<<1, 1>>>(hits, 128)' --buffer hits=i32[128]
// prints: pi is about 3.1
// Darts drawn by a small generator of each thread; the sum is printed by a kernel.
#include <cstdint>
#include <cstdio>
__device__ float draw(uint32_t& state) {
  state ^= state << 13;
  state ^= state >> 17;
  state ^= state << 5;
  return (state >> 8) * (1.0f / 16777216.0f);
}
__global__ void throw_darts(int* hits, int rounds) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, inside = 0;
  uint32_t state = 2654435761u * (i + 1);
  for (int r = 0; r < rounds; ++r) {
    float x = draw(state), y = draw(state);
    inside += x * x + y * y < 1.0f;
  }
  hits[i] = inside;
}
__global__ void total(const int* hits, int n) {
  long sum = 0;
  for (int i = 0; i < n; ++i) sum += hits[i];
  printf("pi is about %.3f\n", 4.0 * sum / (n * 100));
}
int main() {
  int* hits;
  cudaMalloc(&hits, 128 * sizeof *hits);
  throw_darts<<<2, 64>>>(hits, 100);
  total<<<1, 1>>>(hits, 128);
  return cudaDeviceSynchronize();
}
