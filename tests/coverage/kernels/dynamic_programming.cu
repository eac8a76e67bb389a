// Smith-Waterman by anti-diagonals, edit distance, Floyd-Warshall, Viterbi, CTC's alpha.
__global__ void smith_waterman(const char* a, const char* b, int na, int nb, int* best) {
  __shared__ int h[3][257];
  for (int i = threadIdx.x; i < 3 * 257; i += blockDim.x) (&h[0][0])[i] = 0;
  __syncthreads();
  int top = 0;
  for (int d = 2; d <= na + nb; ++d) {
    int *now = h[d % 3], *one = h[(d + 2) % 3], *two = h[(d + 1) % 3];
    for (int i = threadIdx.x + 1; i <= na; i += blockDim.x) {
      const int j = d - i;
      if (j < 1 || j > nb) continue;
      const int v = max(max(0, two[i - 1] + (a[i - 1] == b[j - 1] ? 3 : -3)), max(one[i - 1], one[i]) - 2);
      now[i] = v;
      top = max(top, v);
    }
    __syncthreads();
  }
  atomicMax(best, top);
}
__global__ void floyd_warshall(int* d, int n, int k) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y;
  if (j < n) d[i * n + j] = min(d[i * n + j], d[i * n + k] + d[k * n + j]);
}
__global__ void viterbi(const float* emit, const float* move, int* back, float* score, int steps, int states) {
  extern __shared__ float s[];
  const int t = threadIdx.x;
  s[t] = emit[t];
  __syncthreads();
  for (int k = 1; k < steps; ++k) {
    float best = -INFINITY;
    int from = 0;
    for (int q = 0; q < states; ++q)
      if (s[q] + move[q * states + t] > best) best = s[q] + move[q * states + t], from = q;
    __syncthreads();
    s[t] = best + emit[k * states + t];
    back[k * states + t] = from;
    __syncthreads();
  }
  score[t] = s[t];
}
