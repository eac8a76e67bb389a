// task: attention_row expect: ok
// Online softmax over tiles of keys in shared memory, a warp for 32 outputs, accumulators in registers.
// @launch kern<<<ceil_div(d, 32), 32>>>(q, keys, vals, out, scale, n, d)
__global__ void kern(const float* q, const float* keys, const float* vals, float* out, float scale, int n, int d) {
  __shared__ float scores[32];
  const int column = blockIdx.x * 32 + threadIdx.x;
  float top = -INFINITY, sum = 0, acc = 0;
  for (int base = 0; base < n; base += 32) {
    const int t = base + threadIdx.x;
    float s = -INFINITY;
    if (t < n) {
      s = 0;
      for (int e = 0; e < d; ++e) s = fmaf(q[e], keys[t * d + e], s);
      s *= scale;
    }
    float tile_top = s;
    for (int k = 16; k > 0; k /= 2) tile_top = fmaxf(tile_top, __shfl_xor_sync(~0u, tile_top, k));
    const float now = fmaxf(top, tile_top), factor = expf(top - now), p = expf(s - now);
    float tile_sum = p;
    for (int k = 16; k > 0; k /= 2) tile_sum += __shfl_xor_sync(~0u, tile_sum, k);
    sum = sum * factor + tile_sum;
    top = now;
    __syncwarp();
    scores[threadIdx.x] = p;
    __syncwarp();
    acc *= factor;
    if (column < d)
      for (int k = 0; k < 32 && base + k < n; ++k) acc += scores[k] * vals[(base + k) * d + column];
  }
  if (column < d) out[column] = acc / sum;
}
