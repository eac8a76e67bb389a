// Declarations that nvcc provides for every source and NVRTC does not: the macros and integer types
// of C's <math.h>, <float.h>, <limits.h> and <stdint.h>, which can also be included by name. Names
// that libcu++ (<cuda/std/…>, included by cooperative groups) defines too are declared as there, so
// that the two agree: int64_t is then a long long, with nvcc a long.
#pragma once

namespace krl::nvrtc {

inline constexpr const char* kPreludeName = "kernelrl_prelude.h";
// Some hold what NVRTC itself declares, such as memcpy, and others what only host code uses.
inline constexpr const char* kPreludeHeaders[] = {
    "assert.h",  "cassert",  "cfloat",  "climits",  "cmath",     "cstddef",    "cstdint",
    "cstdio",    "cstdlib",  "float.h", "limits.h", "math.h",    "stddef.h",   "stdint.h",
    "stdio.h",   "stdlib.h", "cstring", "string.h", "cinttypes", "inttypes.h", "chrono",
    "ctime",     "fstream",  "iomanip", "iostream", "memory",    "random",     "sstream",
    "stdexcept", "string",   "time.h",  "vector"};

// Headers with contents. Those of the C++ library have names that libcu++ defines for device code, too;
// its names are then in std as well. CUB's main header holds its algorithms for the host, too, which NVRTC does not
// compile; here it holds those of a block, a warp and a thread.
struct StandardHeader {
  const char* name;
  const char* content;
};
inline constexpr StandardHeader kStandardHeaders[] = {
    {"cuda.h",  // a kernel takes nothing else of the driver's
     "#pragma once\ntypedef struct CUtensorMap_st { alignas(64) uint64_t opaque[16]; } CUtensorMap;\n"},
    {"cudaTypedefs.h", "#include <cuda.h>\n"},
    {"algorithm",  // min, max, swap
     "#include <cuda/std/functional>\nnamespace std { using namespace cuda::std; }\n"},
    {"array", "#include <cuda/std/array>\nnamespace std { using namespace cuda::std; }\n"},
    {"functional",
     "#include <cuda/std/functional>\nnamespace std { using namespace cuda::std; }\n"},
    {"numeric", "#include <cuda/std/numeric>\nnamespace std { using namespace cuda::std; }\n"},
    {"tuple", "#include <cuda/std/tuple>\nnamespace std { using namespace cuda::std; }\n"},
    {"cub/cub.cuh", R"(
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/thread/thread_load.cuh>
#include <cub/thread/thread_reduce.cuh>
#include <cub/thread/thread_scan.cuh>
#include <cub/thread/thread_store.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
)"},
    {"limits", "#include <cuda/std/limits>\nnamespace std { using namespace cuda::std; }\n"},
    {"type_traits",
     "#include <cuda/std/type_traits>\nnamespace std { using namespace cuda::std; }\n"},
    {"utility", "#include <cuda/std/utility>\nnamespace std { using namespace cuda::std; }\n"}};

inline constexpr const char* kPrelude = R"(#pragma once
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
#define INFINITY __int_as_float(0x7f800000)
#define NAN __int_as_float(0x7fffffff)
#define HUGE_VALF INFINITY
#define HUGE_VAL __longlong_as_double(0x7ff0000000000000ll)
#define M_E 2.71828182845904523536
#define M_LOG2E 1.44269504088896340736
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define FLT_EPSILON 1.1920929e-7f
#define FLT_MIN 1.175494351e-38f
#define FLT_MAX 3.402823466e+38f
#define DBL_EPSILON 2.2204460492503131e-16
#define DBL_MIN 2.2250738585072014e-308
#define DBL_MAX 1.7976931348623158e+308
#define CHAR_BIT 8
#define SCHAR_MIN (-128)
#define SCHAR_MAX 127
#define UCHAR_MAX 255
#define CHAR_MIN SCHAR_MIN
#define CHAR_MAX SCHAR_MAX
#define SHRT_MIN (-SHRT_MAX - 1)
#define SHRT_MAX 0x7fff
#define USHRT_MAX 0xffff
#define INT_MIN (-INT_MAX - 1)
#define INT_MAX 0x7fffffff
#define UINT_MAX 0xffffffff
#define LONG_MIN (-LONG_MAX - 1)
#define LONG_MAX LLONG_MAX
#define ULONG_MAX ULLONG_MAX
#define LLONG_MIN (-LLONG_MAX - 1)
#define LLONG_MAX 0x7fffffffffffffffLL
#define ULLONG_MAX 0xffffffffffffffffUL
#define INT8_MIN SCHAR_MIN
#define INT8_MAX SCHAR_MAX
#define UINT8_MAX UCHAR_MAX
#define INT16_MIN SHRT_MIN
#define INT16_MAX SHRT_MAX
#define UINT16_MAX USHRT_MAX
#define INT32_MIN INT_MIN
#define INT32_MAX INT_MAX
#define UINT32_MAX UINT_MAX
#define INT64_MIN LLONG_MIN
#define INT64_MAX LLONG_MAX
#define UINT64_MAX ULLONG_MAX
)";

}  // namespace krl::nvrtc
