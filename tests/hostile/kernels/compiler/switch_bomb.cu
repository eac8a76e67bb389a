// task: vector_add expect: ok|timeout|resource_limit|compile_error
// A switch of sixty thousand cases.
// @launch kern<<<ceil_div(n, 128), 128>>>(a, b, out, n)
#define S1(b) case b: n += (b) > 1 << 20; break; case b + 1: n += (b) > 1 << 21; break;
#define S2(b) S1(b) S1(b + 2) S1(b + 4) S1(b + 6) S1(b + 8) S1(b + 10) S1(b + 12) S1(b + 14)
#define S3(b) S2(b) S2(b + 16) S2(b + 32) S2(b + 48) S2(b + 64) S2(b + 80) S2(b + 96) S2(b + 112)
#define S4(b) S3(b) S3(b + 128) S3(b + 256) S3(b + 384) S3(b + 512) S3(b + 640) S3(b + 768) S3(b + 896)
__global__ void kern(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  switch (i) { S4(0) default: n += 0; }
  if (i < n) out[i] = a[i] + b[i];
}
