// Rotary embeddings, interleaved pairs, angles computed by powf and sincosf.
__global__ void rope_interleaved(float2* x, const int* positions, int heads, int half, float theta) {
  const int token = blockIdx.x;
  for (int i = threadIdx.x; i < heads * half; i += blockDim.x) {
    const int j = i % half;
    float s, c;
    sincosf(positions[token] * powf(theta, -2.0f * j / (2 * half)), &s, &c);
    float2& v = x[(size_t)token * heads * half + i];
    v = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
  }
}
