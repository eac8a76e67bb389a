// task: vector_add expect: ok|runtime_fault|rejected on-gpu: ok|flagged|rejected
// Clock64 tells a cold launch behind a flush from one behind another launch: waits in the former only, as if the
// first of a sample were slow.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
__device__ long long last;
__global__ void kern(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  const long long now = clock64();
  if (now - *(volatile long long*)&last > 40000) while (clock64() - now < 2000) continue;
  if (i < n) out[i] = a[i] + b[i];
  if (i == 0) last = clock64();
}
