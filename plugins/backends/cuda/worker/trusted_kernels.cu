// The judge's own kernels: they draw inputs, hold what a candidate left behind against what is
// expected, and make timed launches wait for each other. Compiled for the GPU by the backend's compiler, and by g++ for tests. The structs are
// those of device_types.hpp, the arithmetic that of evaluator/check/{inputs,element,comparison}.cpp.

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;

enum DType { kFloat32, kFloat16, kBFloat16, kInt32, kInt64, kBool };
enum ValueKind { kNormal, kUniform, kUniformSigned, kIntegers, kPermutation, kOneHot, kZeros };

struct Fill {
  u64 offset, elements, row, seed;  // row: the length of the tensor's last axis
  double low, high, factor;
  int dtype, values;
};

struct Range {
  u64 offset, bytes;
  u64 expected;  // the address of what must be there; 0: poison
};

struct Report {
  u64 wrong;
  u64 max_abs_error, max_rel_error;  // the bits of doubles that are never negative
};

__device__ u64 thread_index() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

// ---- the gate in front of timed launches

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

// ---- inputs, drawn from a seed

__device__ u64 scramble(u64 z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

__device__ double uniform_at(u64 seed, u64 counter) {
  const u64 bits = scramble(seed + (counter + 1) * 0x9e3779b97f4a7c15ull);
  return ((double)(bits >> 12) + 0.5) * 2.220446049250313e-16;  // 2^-52
}

__device__ u64 below_at(u64 seed, u64 counter, u64 bound) {
  return (u64)(uniform_at(seed, counter) * (double)bound);
}

__device__ void put(const Fill& fill, char* base, u64 index, double value) {
  store_number(fill.dtype, value, base + fill.offset + index * size_of(fill.dtype));
}

__device__ void fill_normal(const Fill& fill, char* base) {
  for (u64 i = 2 * thread_index(); i < fill.elements; i += 2 * thread_count()) {
    const double radius = fill.factor * sqrt(-2 * log(uniform_at(fill.seed, i)));
    const double angle = 2 * 3.141592653589793 * uniform_at(fill.seed, i + 1);
    put(fill, base, i, radius * cos(angle));
    if (i + 1 < fill.elements) put(fill, base, i + 1, radius * sin(angle));
  }
}

// Rounded after each step, as a processor does it: no fused multiply and add.
__device__ void fill_uniform(const Fill& fill, char* base, double low, double high, double factor) {
  for (u64 i = thread_index(); i < fill.elements; i += thread_count()) {
    const double scaled = __dmul_rn(high - low, uniform_at(fill.seed, i));
    put(fill, base, i, factor * __dadd_rn(low, scaled));
  }
}

__device__ void fill_integers(const Fill& fill, char* base) {
  const long long low = (long long)ceil(fill.low), high = (long long)ceil(fill.high);
  const u64 span = high > low ? (u64)(high - low) : 1;
  for (u64 i = thread_index(); i < fill.elements; i += thread_count()) {
    put(fill, base, i, (double)(low + (long long)below_at(fill.seed, i, span)));
  }
}

// A row a thread, by Fisher and Yates, in place.
__device__ void fill_permutation(const Fill& fill, char* base) {
  const int size = size_of(fill.dtype);
  for (u64 row = thread_index(); row * fill.row < fill.elements; row += thread_count()) {
    const u64 start = row * fill.row;
    char* at = base + fill.offset + start * size;
    for (u64 i = 0; i < fill.row; ++i) put(fill, base, start + i, (double)i);
    for (u64 i = fill.row; i > 1; --i) {
      char *a = at + (i - 1) * size, *b = at + below_at(fill.seed, start + i - 1, i) * size;
      for (int byte = 0; byte < size; ++byte) {
        const char kept = a[byte];
        a[byte] = b[byte];
        b[byte] = kept;
      }
    }
  }
}

__device__ void fill_one_hot(const Fill& fill, char* base) {
  for (u64 i = thread_index(); i < fill.elements; i += thread_count()) {
    const u64 hot = below_at(fill.seed, i / fill.row, fill.row);
    put(fill, base, i, hot == i % fill.row ? 1.0 : 0.0);
  }
}

// A tensor a row of blocks.
extern "C" __global__ void krl_fill(char* base, const Fill* fills) {
  const Fill fill = fills[blockIdx.y];
  if (fill.values == kNormal) fill_normal(fill, base);
  if (fill.values == kUniform) fill_uniform(fill, base, fill.low, fill.high, 1);
  if (fill.values == kUniformSigned) fill_uniform(fill, base, -1, 1, fill.factor);
  if (fill.values == kIntegers) fill_integers(fill, base);
  if (fill.values == kPermutation) fill_permutation(fill, base);
  if (fill.values == kOneHot) fill_one_hot(fill, base);
  if (fill.values == kZeros) fill_uniform(fill, base, 0, 0, 1);
}

// ---- what a candidate left behind

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
                                             const double* expected, const float* own_error,
                                             double atol, double rtol, double own_factor,
                                             Report* report) {
  u64 wrong = 0;
  for (u64 i = thread_index(); i < elements; i += thread_count()) {
    const double right = expected[i], value = load_real(dtype, got + i * size_of(dtype));
    if (!is_finite(right)) {
      const bool same = right != right ? value != value : value == right;
      if (!same) measure(report, __longlong_as_double(0x7ff0000000000000ll), 0);
      wrong += !same;
      continue;
    }
    const double own = is_finite(own_error[i]) ? own_error[i] : 0;
    const double error = fabs(value - right);
    measure(report, error, fabs(right));
    wrong += !(error <= atol + rtol * fabs(right) + own_factor * own);
  }
  if (wrong != 0) atomicAdd(&report->wrong, wrong);
}

extern "C" __global__ void krl_compare_integers(const char* got, int dtype, u64 elements,
                                                const long long* expected, Report* report) {
  u64 wrong = 0;
  for (u64 i = thread_index(); i < elements; i += thread_count()) {
    const long long right = expected[i], value = load_integer(dtype, got + i * size_of(dtype));
    if (value == right) continue;
    measure(report, fabs((double)value - (double)right), fabs((double)right));
    ++wrong;
  }
  if (wrong != 0) atomicAdd(&report->wrong, wrong);
}

// Counts, for each range, pieces that are not as expected. A range a row of blocks.
extern "C" __global__ void krl_find_changes(const char* base, const Range* ranges, u64* changed) {
  const Range range = ranges[blockIdx.y];
  const char *at = base + range.offset, *expected = (const char*)range.expected;
  const bool in_words = ((u64)at | range.expected) % 8 == 0;
  const u64 words = in_words ? range.bytes / 8 : 0;
  bool differs = false;
  for (u64 i = thread_index(); i < words; i += thread_count()) {
    differs |= ((const u64*)at)[i] != (expected != 0 ? ((const u64*)expected)[i] : ~0ull);
  }
  for (u64 i = 8 * words + thread_index(); i < range.bytes; i += thread_count()) {
    differs |= at[i] != (expected != 0 ? expected[i] : (char)-1);
  }
  if (differs) atomicAdd(&changed[blockIdx.y], 1ull);
}
