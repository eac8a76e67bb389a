// The checker's own kernels: they lay out sets of buffers and put them away, compare a candidate's
// results with the expected ones, and make timed launches wait for each other. Compiled for the GPU
// by the backend's compiler, and by g++ for tests. The structs are those of device_types.hpp, the
// arithmetic that of evaluator/check/{element,comparison}.cpp. device_draws.cu and
// evaluator/check/draws.inc precede this text.

typedef unsigned int u32;
typedef unsigned short u16;

struct Fill {
  u64 offset;
  Draw draw;
  u64 change, seal;
};
constexpr int kPoison = kFlags + 1;  // after the kinds of values; `elements` are bytes

enum Structure { kGeneral, kSymmetric, kLowerTriangular, kUpperTriangular };

struct Range {
  u64 offset, bytes;
  u64 expected;  // the address of what must be there; 0: guards or poison
  u64 guards;    // the offset in the arena whose guards must be there; kNone: poison
  u64 poison;    // its number
};

struct Move {
  u64 place, kept;  // offsets in the arena; kept kNone: there is no copy
};

struct Strides {
  u64 shape[8];
  long long strides[8];
  int axes, element_bytes;
};

struct Comparison {
  u64 got, expected, rounding;  // addresses; rounding 0: none
  u64 elements;
  double atol, rtol;
  int dtype, floating;
};

struct Report {
  u64 wrong;
  u64 max_abs_error, max_rel_error;  // the bits of doubles that are never negative
};

constexpr u64 kNone = ~0ull;

__device__ u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

// ---- the gate in front of timed launches

extern "C" __global__ void krl_nothing() {}

extern "C" __global__ void krl_wait(const volatile int* open, long long most_clocks) {
  const long long start = clock64();
  while (*open == 0 && clock64() - start < most_clocks) continue;
}

// ---- numbers of every type

__device__ int size_of(int dtype) {
  if (dtype == kInt64) return 8;
  if (dtype == kFloat32 || dtype == kInt32) return 4;
  return dtype == kBool ? 1 : 2;
}

__device__ u16 to_bfloat16(float value) {
  const u32 bits = __float_as_uint(value);
  if (value != value) return (u16)((bits >> 16) | 0x40);
  return (u16)((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

__device__ u16 to_float16(float value) {
  const u32 bits = __float_as_uint(value);
  const u32 sign = (bits >> 16) & 0x8000;
  const float magnitude = fabsf(value);
  if (value != value) return (u16)(sign | 0x7e00);
  if (magnitude >= 65520.0f) return (u16)(sign | 0x7c00);
  if (magnitude < 6.103515625e-05f) {
    return (u16)(sign | (u32)__float2int_rn(magnitude * 16777216.0f));
  }
  const u32 rounded = (bits & 0x7fffffff) + 0xfff + ((bits >> 13) & 1);
  return (u16)(sign | ((rounded - (112u << 23)) >> 13));
}

__device__ double from_float16(u16 bits) {
  const double sign = (bits & 0x8000) != 0 ? -1.0 : 1.0;
  const int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  if (exponent == 0) return sign * mantissa * 5.9604644775390625e-08;  // 2^-24
  if (exponent == 31) {
    return __uint_as_float((u32)(bits & 0x8000) << 16 | 0x7f800000u | (u32)mantissa << 13);
  }
  return sign * __uint_as_float((u32)(exponent + 112) << 23 | (u32)mantissa << 13);
}

__device__ void store_number(int dtype, double value, char* at) {
  if (dtype == kFloat32) *(float*)at = (float)value;
  if (dtype == kFloat16) *(u16*)at = to_float16((float)value);
  if (dtype == kBFloat16) *(u16*)at = to_bfloat16((float)value);
  if (dtype == kInt32) *(int*)at = (int)value;
  if (dtype == kInt64) *(long long*)at = (long long)value;
  if (dtype == kBool) *(unsigned char*)at = value != 0;
}

__device__ double load_real(int dtype, const char* at) {
  if (dtype == kFloat32) return *(const float*)at;
  const u16 bits = *(const u16*)at;
  return dtype == kFloat16 ? from_float16(bits) : (double)__uint_as_float((u32)bits << 16);
}

__device__ long long load_integer(int dtype, const char* at) {
  if (dtype == kInt64) return *(const long long*)at;
  return dtype == kInt32 ? *(const int*)at : *(const unsigned char*)at;
}

// Words that only a key foretells, however many others are known: two rounds of Even and Mansour's
// construction, as in guards.hpp.
__device__ u64 guard_at(u64 word, u64 start, u64 mask) {
  const u64 once = scramble(start + (word + 1) * 0x9e3779b97f4a7c15ull) ^ mask;
  return scramble(once) ^ (start << 32 | start >> 32);
}

// ---- inputs, drawn from a seed

// Four bytes of the poison of a number: see evaluator/check/poison.hpp.
__device__ u32 poison_word(u64 number, u64 index) {
  const u64 kind = number % 6;
  const u32 byte = kind == 0 ? 0xff : kind == 1 ? 0 : kind == 2 ? 0x7f : kind == 3 ? 0xfe : 0x3c;
  if (kind != 5) return byte * 0x01010101u;
  u64 z = number + (index + 1) * 0x9e3779b97f4a7c15ull;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  return (u32)((z ^ (z >> 27)) * 0x94d049bb133111ebull >> 32);
}

__device__ char poison_byte(u64 number, u64 offset) {
  return (char)(poison_word(number, offset / 4) >> offset % 4 * 8);
}

__device__ void put(const Fill& fill, char* base, u64 index, double value) {
  char* const first = base + fill.offset;
  if (fill.draw.structure != kGeneral) {
    const u64 n = fill.draw.row, row = index / n % n, column = index % n;
    if (fill.draw.structure == kSymmetric) {
      if (column < row) return;  // its mirror image writes it
      const u64 mirrored = index - row * n - column + column * n + row;
      store_number(fill.draw.dtype, value, first + mirrored * size_of(fill.draw.dtype));
    }
    if (fill.draw.structure == kLowerTriangular && column > row) value = 0;
    if (fill.draw.structure == kUpperTriangular && column < row) value = 0;
  }
  store_number(fill.draw.dtype, value, first + index * size_of(fill.draw.dtype));
}

__device__ void fill_elements(const Fill& fill, char* base) {
  for (u64 i = thread_index(); i < fill.draw.elements; i += thread_count())
    put(fill, base, i, element_at(fill.draw, i));
}

// A row a thread, by Fisher and Yates, in place.
__device__ void fill_permutation(const Fill& fill, char* base) {
  const int size = size_of(fill.draw.dtype);
  for (u64 row = thread_index(); row * fill.draw.row < fill.draw.elements; row += thread_count()) {
    const u64 start = row * fill.draw.row;
    char* at = base + fill.offset + start * size;
    for (u64 i = 0; i < fill.draw.row; ++i) put(fill, base, start + i, (double)i);
    for (u64 i = fill.draw.row; i > 1; --i) {
      char *a = at + (i - 1) * size, *b = at + below_at(fill.draw.seed, start + i - 1, i) * size;
      for (int byte = 0; byte < size; ++byte) {
        const char kept = a[byte];
        a[byte] = b[byte];
        b[byte] = kept;
      }
    }
  }
}

// Candidates can reach the memory of seeds, but cannot read them without the key.
__device__ Fill unsealed(Fill fill, u64 start, u64 mask) {
  if (fill.seal != 0) fill.draw.seed ^= guard_at(fill.seal, start, mask);
  return fill;
}

// Poisons memory that no launch has written yet; `elements` are bytes, `seed` is the number of the
// poison.
__device__ void fill_poison(const Fill& fill, char* base) {
  char* at = base + fill.offset;
  for (u64 i = thread_index(); i < fill.draw.elements / 4; i += thread_count())
    ((u32*)at)[i] = poison_word(fill.draw.seed, i);
  const u64 tail = fill.draw.elements / 4 * 4 + thread_index();
  if (tail < fill.draw.elements) at[tail] = poison_byte(fill.draw.seed, tail);
}

// A tensor a row of blocks.
extern "C" __global__ void krl_fill(char* base, const Fill* fills, u64 start, u64 mask) {
  const Fill fill = unsealed(fills[blockIdx.y], start, mask);
  if (fill.draw.values == kPoison) return fill_poison(fill, base);
  if (fill.draw.values == kPermutation) return fill_permutation(fill, base);
  fill_elements(fill, base);
}

// Puts copies of others in the place of one element in kChangedOf, at places that only the change
// determines; none of the copied elements is replaced. A row of blocks per tensor.
constexpr u64 kChangedOf = 64;

extern "C" __global__ void krl_change(char* base, const Fill* fills, u64 start, u64 mask) {
  const Fill fill = unsealed(fills[blockIdx.y], start, mask);
  const int values = fill.draw.values;
  const bool is_drawn_singly = values == kNormal || values == kUniform ||
                               values == kUniformSigned || values == kIntegers ||
                               values == kBernoulli || values == kFlags;
  if (fill.change == 0 || fill.draw.structure != kGeneral || !is_drawn_singly) return;
  const int size = size_of(fill.draw.dtype);
  char* at = base + fill.offset;
  const u64 pieces = fill.draw.elements / kChangedOf;
  for (u64 piece = thread_index(); piece < pieces; piece += thread_count()) {
    const u64 next = (piece + 1) % pieces, changed = below_at(fill.change, next, kChangedOf);
    const u64 away = 1 + below_at(~fill.change, piece, kChangedOf - 1);
    const u64 to = piece * kChangedOf + below_at(fill.change, piece, kChangedOf);
    const u64 from = next * kChangedOf + (changed + away) % kChangedOf;
    for (int byte = 0; byte < size; ++byte) at[to * size + byte] = at[from * size + byte];
  }
}

// The elements of a tensor that lies anywhere, one after the other.
extern "C" __global__ void krl_gather(char* to, const char* from, Strides at, u64 elements) {
  for (u64 i = thread_index(); i < elements; i += thread_count()) {
    u64 rest = i;
    long long source = 0;
    for (int axis = at.axes; axis-- > 0; rest /= at.shape[axis])
      source += (long long)(rest % at.shape[axis]) * at.strides[axis];
    if (at.element_bytes == 1) to[i] = from[source];
    if (at.element_bytes == 2) ((u16*)to)[i] = ((const u16*)from)[source];
    if (at.element_bytes == 4) ((u32*)to)[i] = ((const u32*)from)[source];
    if (at.element_bytes == 8) ((u64*)to)[i] = ((const u64*)from)[source];
  }
}

// ---- guards: the contents of an arena outside of sets of buffers

__device__ char guard_byte(u64 offset, u64 start, u64 mask) {
  return (char)(guard_at(offset / 8, start, mask) >> offset % 8 * 8);
}

// Leaves guards where sets were, a set a row of blocks, and a copy of each where it is kept: hidden
// under the guards of that place, so that who finds it takes it for guards.
extern "C" __global__ void krl_put_away(char* arena, const Move* moves, u64 bytes, u64 start,
                                        u64 mask) {
  const Move move = moves[blockIdx.y];
  u64* from = (u64*)(arena + move.place);
  for (u64 i = thread_index(); i < bytes / 8; i += thread_count()) {
    if (move.kept != kNone) {
      const u64 word = move.kept / 8 + i;
      ((u64*)arena)[word] = from[i] ^ guard_at(word, start, mask);
    }
    from[i] = guard_at(move.place / 8 + i, start, mask);
  }
}

// Moves the kept copies, or the sets if there are none, one after the other to `to`; guards take
// their place.
extern "C" __global__ void krl_fetch(char* arena, const Move* moves, u64 bytes, u64 start, u64 mask,
                                     char* to) {
  const Move move = moves[blockIdx.y];
  const bool hidden = move.kept != kNone;
  const u64 first = (hidden ? move.kept : move.place) / 8;
  u64* copy = (u64*)(to + blockIdx.y * bytes);
  for (u64 i = thread_index(); i < bytes / 8; i += thread_count()) {
    const u64 guard = guard_at(first + i, start, mask);
    copy[i] = ((u64*)arena)[first + i] ^ (hidden ? guard : 0);
    ((u64*)arena)[first + i] = guard;
  }
}

// ---- what launches leave behind in the multiprocessors

// Registers that are written at once, of 256 that a thread may have.
constexpr int kRegisters = 224;
// A block stays for this long, so that all blocks of a launch are resident at once.
constexpr long long kResidentClocks = 8192;

#ifdef __CUDACC__
#define KRL_UNROLL(loop) _Pragma(#loop)
#else
#define KRL_UNROLL(loop)
#endif

extern __shared__ u32 krl_shared[];

__device__ void stay_resident(long long start) {
  while (clock64() - start < kResidentClocks) continue;
}

// Each is computed from the one before, and then used in the other order: so all are there at once.
__device__ u32 overwritten_registers(u32 word) {
  u32 held[kRegisters];
  held[0] = word;
  KRL_UNROLL(unroll)
  for (int i = 1; i < kRegisters; ++i) {
    held[i] = (held[i - 1] ^ held[i - 1] >> 15) * 1664525u + word;
  }
  u32 sum = word;
  KRL_UNROLL(unroll)
  for (int i = kRegisters - 1; i >= 0; --i) sum = sum * 22695477u ^ held[i];
  return sum;
}

// Overwrites shared memory and registers, one block per multiprocessor. The values in registers
// stay observable through a word that is in shared memory anyway.
extern "C" __global__ void __launch_bounds__(256) krl_overwrite(u64 poison, u32 words) {
  const long long start = clock64();
  const u32 sum = overwritten_registers(poison_word(poison, threadIdx.x));
  for (u32 i = threadIdx.x; i < words; i += 256) krl_shared[i] = poison_word(poison, i);
  if (words != 0 && sum == 0x12345678u) krl_shared[0] = 0;
  stay_resident(start);
}

template <int kBytes>
__device__ void overwrite_local(u64 poison) {
  const long long start = clock64();
  [[maybe_unused]] volatile u32 frame[kBytes / 4];
  KRL_UNROLL(unroll 4)
  for (int i = 0; i < kBytes / 4; ++i) frame[i] = poison_word(poison, i);
  stay_resident(start);
}

#define KRL_OVERWRITE_LOCAL(bytes)                                                               \
  extern "C" __global__ void __launch_bounds__(256, 8) krl_overwrite_local_##bytes(u64 poison) { \
    overwrite_local<bytes>(poison);                                                              \
  }
KRL_OVERWRITE_LOCAL(128)
KRL_OVERWRITE_LOCAL(512)
KRL_OVERWRITE_LOCAL(2048)
KRL_OVERWRITE_LOCAL(8192)
KRL_OVERWRITE_LOCAL(32768)
KRL_OVERWRITE_LOCAL(65536)

// ---- the outputs of a candidate

__device__ void raise(u64* maximum, double value) {
  const u64 bits = (u64)__double_as_longlong(value);
  if (bits > *maximum) atomicMax(maximum, bits);
}

__device__ void measure(Report* report, double error, double magnitude) {
  if (error != error) error = __longlong_as_double(0x7ff0000000000000ll);
  raise(&report->max_abs_error, error);
  if (magnitude > 0) raise(&report->max_rel_error, error / magnitude);
}

__device__ bool is_finite(double value) { return value - value == 0; }

extern "C" __global__ void krl_compare_reals(const char* got, int dtype, u64 elements,
                                             const double* expected, const float* rounding,
                                             double atol, double rtol, Report* report) {
  u64 wrong = 0;
  for (u64 i = thread_index(); i < elements; i += thread_count()) {
    const double right = expected[i], value = load_real(dtype, got + i * size_of(dtype));
    if (!is_finite(right)) {
      const bool same = right != right ? value != value : value == right;
      if (!same) measure(report, __longlong_as_double(0x7ff0000000000000ll), 0);
      wrong += !same;
      continue;
    }
    const double error = fabs(value - right);
    measure(report, error, fabs(right));
    wrong += !(error <= atol + rtol * fabs(right) + rounding[i]);
  }
  if (wrong != 0) atomicAdd(&report->wrong, wrong);
}

// `expected`: of each element as many as there are choices, an array after the other.
extern "C" __global__ void krl_compare_integers(const char* got, int dtype, u64 elements,
                                                const long long* expected, u64 choices,
                                                Report* report) {
  u64 wrong = 0;
  for (u64 i = thread_index(); i < elements; i += thread_count()) {
    const long long value = load_integer(dtype, got + i * size_of(dtype));
    bool is_right = expected[i] == -0x7fffffffffffffffll - 1;  // any is right
    for (u64 c = 0; c < choices; ++c) is_right |= value == expected[c * elements + i];
    if (is_right) continue;
    measure(report, fabs((double)value - (double)expected[i]), fabs((double)expected[i]));
    ++wrong;
  }
  if (wrong != 0) atomicAdd(&report->wrong, wrong);
}

// Compares the outputs of many launches, each by a row of blocks, with those that a trusted program
// computed from the same inputs.
extern "C" __global__ void krl_compare_launches(const Comparison* comparisons, u64* wrong) {
  const Comparison c = comparisons[blockIdx.y];
  const char *got = (const char*)c.got, *right = (const char*)c.expected;
  const int size = size_of(c.dtype);
  u64 differ = 0;
  for (u64 i = thread_index(); i < c.elements; i += thread_count()) {
    if (!c.floating) {
      differ += load_integer(c.dtype, got + i * size) != load_integer(c.dtype, right + i * size);
      continue;
    }
    const double a = load_real(c.dtype, got + i * size), b = load_real(c.dtype, right + i * size);
    const bool same = a == b || (a != a && b != b);
    const double rounding = c.rounding == 0 ? 0 : ((const float*)c.rounding)[i];
    differ += !(same || (is_finite(b) && fabs(a - b) <= c.atol + c.rtol * fabs(b) + rounding));
  }
  if (differ != 0) atomicAdd(&wrong[blockIdx.y], differ);
}

__device__ char expected_byte(const Range& range, u64 i, u64 start, u64 mask) {
  if (range.expected != 0) return ((const char*)range.expected)[i];
  if (range.guards != kNone) return guard_byte(range.guards + i, start, mask);
  return poison_byte(range.poison, i);
}

__device__ u64 expected_word(const Range& range, u64 i, u64 start, u64 mask) {
  if (range.expected != 0) return *(const u64*)(range.expected + i);
  if (range.guards != kNone) return guard_at((range.guards + i) / 8, start, mask);
  return poison_word(range.poison, i / 4) | (u64)poison_word(range.poison, i / 4 + 1) << 32;
}

// Counts, for each range, threads that see unexpected values. A row of blocks per range.
extern "C" __global__ void krl_find_changes(const char* base, const Range* ranges, u64* changed,
                                            u64 start, u64 mask) {
  const Range range = ranges[blockIdx.y];
  const char* at = base + range.offset;
  const u64 unaligned = (8 - (u64)at % 8) % 8;
  const u64 head = unaligned < range.bytes ? unaligned : range.bytes;
  const u64 known = range.expected != 0 ? range.expected : range.guards != kNone ? range.guards : 0;
  const bool in_words = (known + head) % 8 == 0;
  const u64 words = in_words ? (range.bytes - head) / 8 : 0;
  bool differs = false;
  for (u64 i = thread_index(); i < words; i += thread_count()) {
    const u64 byte = head + 8 * i;
    differs |= *(const u64*)(at + byte) != expected_word(range, byte, start, mask);
  }
  for (u64 loose = thread_index(); loose < range.bytes - 8 * words; loose += thread_count()) {
    const u64 byte = loose < head ? loose : loose + 8 * words;
    differs |= at[byte] != expected_byte(range, byte, start, mask);
  }
  if (differs) atomicAdd(&changed[blockIdx.y], 1ull);
}

// ---- the GPU's peak rates

struct alignas(16) Sixteen {
  u64 low, high;
};

extern "C" __global__ void krl_copy(const Sixteen* from, Sixteen* to, u64 elements) {
  for (u64 i = thread_index(); i < elements; i += thread_count()) to[i] = from[i];
}

extern "C" __global__ void krl_add(const Sixteen* from, const Sixteen* more, Sixteen* to,
                                   u64 elements) {
  for (u64 i = thread_index(); i < elements; i += thread_count()) {
    to[i] = {from[i].low + more[i].low, from[i].high + more[i].high};
  }
}

// Eight chains of fused multiplies and adds, so that none waits for another. Stores nothing, but no
// compiler can know that.
extern "C" __global__ void krl_multiply_add(float* out, float x, float y, u32 rounds) {
  float chains[8];
  for (int c = 0; c < 8; ++c) chains[c] = (float)threadIdx.x + (float)c;
  for (u32 round = 0; round < rounds; ++round) {
    for (int c = 0; c < 8; ++c) chains[c] = fmaf(chains[c], x, y);
  }
  float sum = 0;
  for (int c = 0; c < 8; ++c) sum += chains[c];
  if (sum == -1.0f) *out = sum;
}
