// What the kernels share: the model's shape, numbers as they lie in memory, sums over a block.
// The shape comes as macros (kernel_source.cpp). A warp has 32 lanes throughout.

using namespace krl::libtorch;

constexpr int kHidden = HIDDEN;
constexpr int kHeads = HEADS;
constexpr int kKvHeads = KV_HEADS;
constexpr int kGroup = kHeads / kKvHeads;  // queries that share keys and values
constexpr int kHeadSize = HEAD_SIZE;
constexpr int kHalf = kHeadSize / 2;
constexpr int kQkvWidth = (kHeads + 2 * kKvHeads) * kHeadSize;
constexpr int kFfn = FFN;
constexpr int kVocabulary = VOCABULARY;
constexpr bool kQkvBias = QKV_BIAS;
constexpr bool kQkNorm = QK_NORM;
constexpr unsigned kAllLanes = 0xffffffffu;
constexpr float kLowest = -1e30f;  // below every logit and score, and without the traps of -inf

struct BFloat16 {
  unsigned short bits;
};
template <int kBytes>
struct ElementOf;
template <>
struct ElementOf<2> {
  using Type = BFloat16;
};
template <>
struct ElementOf<4> {
  using Type = float;
};
using Element = ElementOf<ELEMENT_BYTES>::Type;
constexpr bool kIsFloat32 = sizeof(Element) == 4;

__device__ inline float to_float(float x) { return x; }
__device__ inline float to_float(BFloat16 x) {
  return __uint_as_float(static_cast<unsigned>(x.bits) << 16);
}
template <class T>
__device__ T from_float(float x);
template <>
__device__ inline float from_float<float>(float x) {
  return x;
}
template <>
__device__ inline BFloat16 from_float<BFloat16>(float x) {
  BFloat16 result;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(result.bits) : "f"(x));
  return result;
}
// As it would be after a way through memory: where other implementations store what stays in a
// register here, their rounding is kept.
__device__ inline float rounded(float x) { return to_float(from_float<Element>(x)); }

// e^x: fast where bfloat16 hides the difference.
__device__ inline float exponential(float x) { return kIsFloat32 ? expf(x) : __expf(x); }

// The integer that is loaded or stored at once for so many bytes.
template <int kBytes>
struct WordOf;
template <>
struct WordOf<16> {
  using Type = uint4;
};
template <>
struct WordOf<8> {
  using Type = uint2;
};
template <>
struct WordOf<4> {
  using Type = unsigned;
};
template <>
struct WordOf<2> {
  using Type = unsigned short;
};

// N neighbouring elements in one access. REQUIRES: `from` is a multiple of N elements.
template <int N>
__device__ inline void load(const Element* from, float (&to)[N]) {
  using Word = typename WordOf<N * sizeof(Element)>::Type;
  const Word word = *reinterpret_cast<const Word*>(from);
  const Element* elements = reinterpret_cast<const Element*>(&word);
#pragma unroll
  for (int i = 0; i < N; ++i) to[i] = to_float(elements[i]);
}
template <int N>
__device__ inline void store(const float (&from)[N], Element* to) {
  using Word = typename WordOf<N * sizeof(Element)>::Type;
  Word word;
  Element* elements = reinterpret_cast<Element*>(&word);
#pragma unroll
  for (int i = 0; i < N; ++i) elements[i] = from_float<Element>(from[i]);
  *reinterpret_cast<Word*>(to) = word;
}

__device__ inline float warp_sum(float x) {
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(kAllLanes, x, offset);
  return x;
}

// The sum over a block of kThreads, the same for all of them and in the same order always.
template <int kThreads>
__device__ inline float block_sum(float x) {
  __shared__ float warps[kThreads / 32];
  x = warp_sum(x);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = x;
  __syncthreads();
  float total = 0;
#pragma unroll
  for (int warp = 0; warp < kThreads / 32; ++warp) total += warps[warp];
  return total;
}
