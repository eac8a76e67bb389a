// Bytes: finding, counting words, UTF-8 lengths, run lengths, base64.
__global__ void find_all(const char* text, int n, const char* what, int m, int* hits, int* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + m > n) return;
  for (int k = 0; k < m; ++k)
    if (text[i + k] != what[k]) return;
  hits[atomicAdd(count, 1)] = i;
}
__global__ void count_words(const unsigned char* t, int n, int* out) {
  int mine = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const bool space = t[i] == ' ' || (t[i] >= '\t' && t[i] <= '\r'), before = i == 0 || t[i - 1] == ' ' || (t[i - 1] >= '\t' && t[i - 1] <= '\r');
    mine += !space && before && (t[i] & 0xc0) != 0x80;
  }
  for (int o = 16; o; o >>= 1) mine += __shfl_down_sync(~0u, mine, o);
  if (threadIdx.x % 32 == 0) atomicAdd(out, mine);
}
__constant__ char kTable[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
__global__ void base64(const unsigned char* in, char4* out, int groups) {
  const int g = blockIdx.x * blockDim.x + threadIdx.x;
  if (g >= groups) return;
  const unsigned v = in[3 * g] << 16 | in[3 * g + 1] << 8 | in[3 * g + 2];
  out[g] = make_char4(kTable[v >> 18], kTable[v >> 12 & 63], kTable[v >> 6 & 63], kTable[v & 63]);
}
__device__ int parse(const char*& p) {
  int v = 0;
  bool minus = *p == '-';
  if (minus) ++p;
  while (*p >= '0' && *p <= '9') v = v * 10 + *p++ - '0';
  return minus ? -v : v;
}
__global__ void parse_numbers(const char* text, const int* begin, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const char* p = text + begin[i];
  out[i] = parse(p) + (*p == '.' ? parse(++p) : 0);
}
