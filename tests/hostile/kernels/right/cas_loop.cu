// task: dot expect: ok
// An addition made of atomicCAS, sums in double within blocks.
// @launch zero<<<1, 1>>>(out)
// @launch kern<<<min(ceil_div(len, 256), 16), 256>>>(p, q, out, len)
__global__ void zero(float* out) { *out = 0.f; }
__device__ void add(float* at, float v) {
  unsigned* word = reinterpret_cast<unsigned*>(at);
  unsigned old = *word, seen;
  do { seen = old; old = atomicCAS(word, seen, __float_as_uint(__uint_as_float(seen) + v)); } while (old != seen);
}
__global__ void kern(const float* p, const float* q, float* out, int len) {
  __shared__ double part[256];
  double sum = 0;
  for (int i = blockIdx.x * 256 + threadIdx.x; i < len; i += gridDim.x * 256) sum += (double)p[i] * q[i];
  part[threadIdx.x] = sum;
  __syncthreads();
  for (int d = 128; d > 0; d /= 2) { if (threadIdx.x < d) part[threadIdx.x] += part[threadIdx.x + d]; __syncthreads(); }
  if (threadIdx.x == 0) add(out, (float)part[0]);
}
