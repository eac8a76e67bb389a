// Shared by all kernels: the numbers in memory, and sums over a warp. A macro gives the type of an
// element, ELEMENT_BYTES: 2 is bfloat16, 4 is float32; sums are float32 always. A warp has 32 lanes
// throughout.

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
// Rounds as if the value had been stored in memory: other implementations store values that stay in
// a register here, and their rounding is kept.
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

// The sum over the first `kLanes` lanes of each group of so many, the same for all of them.
// REQUIRES: a power of two, and all lanes of the warp.
template <int kLanes>
__device__ inline float lanes_sum(float x) {
#pragma unroll
  for (int offset = kLanes / 2; offset > 0; offset /= 2) {
    x += __shfl_xor_sync(kAllLanes, x, offset);
  }
  return x;
}
__device__ inline float warp_sum(float x) { return lanes_sum<32>(x); }
