// Operations of a warp: shuffles, votes, matches, reductions. And fences, clocks, traps.
#pragma once

static KRL_INLINE void __syncwarp(unsigned mask = 0xffffffffu) { krl_warp_exchange(KRL_WARP_BARRIER, mask, 0, 0); }

template <class T>
static KRL_INLINE T krl_shuffle(unsigned mask, T value, unsigned source) {
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8 || sizeof(T) == 1,
                "a shuffle moves values of at most 8 bytes");
  return krl_value<T>(krl_warp_exchange(KRL_SHUFFLE, mask, krl_word(value), source));
}

// The source lanes follow the pseudo code of `shfl.sync` in the PTX ISA.
template <class T>
static KRL_INLINE T __shfl_sync(unsigned mask, T value, int source, int width = warpSize) {
  return krl_shuffle(mask, value, (krl_lane & ~(unsigned)(width - 1)) | (source & (width - 1)));
}
template <class T>
static KRL_INLINE T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const int first = krl_lane & ~(unsigned)(width - 1), source = (int)(krl_lane - (delta & 31));
  return krl_shuffle(mask, value, source >= first ? source : krl_lane);
}
template <class T>
static KRL_INLINE T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize) {
  const unsigned last = krl_lane | (unsigned)(width - 1), source = krl_lane + (delta & 31);
  return krl_shuffle(mask, value, source <= last ? source : krl_lane);
}
template <class T>
static KRL_INLINE T __shfl_xor_sync(unsigned mask, T value, int lane_mask, int width = warpSize) {
  const unsigned last = krl_lane | (unsigned)(width - 1), source = krl_lane ^ (lane_mask & 31);
  return krl_shuffle(mask, value, source <= last ? source : krl_lane);
}

static KRL_INLINE unsigned __activemask() { return krl_activemask(); }
static KRL_INLINE unsigned __ballot_sync(unsigned mask, int predicate) {
  return (unsigned)krl_warp_exchange(KRL_BALLOT, mask, predicate != 0, 0);
}
static KRL_INLINE int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
static KRL_INLINE int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, !predicate) == 0; }
template <class T>
static KRL_INLINE unsigned __match_any_sync(unsigned mask, T value) {
  return (unsigned)krl_warp_exchange(KRL_MATCH_ANY, mask, krl_word(value), 0);
}
template <class T>
static KRL_INLINE unsigned __match_all_sync(unsigned mask, T value, int* all) {
  const unsigned equal = (unsigned)krl_warp_exchange(KRL_MATCH_ALL, mask, krl_word(value), 0);
  *all = equal != 0;
  return equal;
}

#define KRL_REDUCE(name, type, operation)                                                    \
  static KRL_INLINE type name(unsigned mask, type value) {                                   \
    return (type)krl_warp_exchange(operation, mask, (unsigned)value, 0);                     \
  }
KRL_REDUCE(__reduce_add_sync, int, KRL_REDUCE_ADD)
KRL_REDUCE(__reduce_add_sync, unsigned, KRL_REDUCE_ADD)
KRL_REDUCE(__reduce_min_sync, int, KRL_REDUCE_MIN)
KRL_REDUCE(__reduce_min_sync, unsigned, KRL_REDUCE_UMIN)
KRL_REDUCE(__reduce_max_sync, int, KRL_REDUCE_MAX)
KRL_REDUCE(__reduce_max_sync, unsigned, KRL_REDUCE_UMAX)
KRL_REDUCE(__reduce_and_sync, unsigned, KRL_REDUCE_AND)
KRL_REDUCE(__reduce_or_sync, unsigned, KRL_REDUCE_OR)
KRL_REDUCE(__reduce_xor_sync, unsigned, KRL_REDUCE_XOR)
#undef KRL_REDUCE

static KRL_INLINE void __threadfence() { krl_fence(); }
static KRL_INLINE void __threadfence_block() { krl_fence(); }
static KRL_INLINE void __threadfence_system() { krl_fence(); }
static KRL_INLINE void __nanosleep(unsigned) {}
static KRL_INLINE long long clock64() { return (long long)krl_clock(); }
static KRL_INLINE long clock() { return (long)krl_clock(); }
static KRL_INLINE unsigned long long __globaltimer() { return krl_clock(); }
static KRL_INLINE void __trap() { krl_trap(); }
static KRL_INLINE void __brkpt() { krl_trap(); }
static KRL_INLINE void __prof_trigger(int) {}

// Device printf has no place to print to here; its calls are counted.
template <class... Arguments>
static KRL_INLINE int printf(const char*, const Arguments&...) {
  krl_printf();
  return sizeof...(Arguments);
}
#ifndef NDEBUG
#define assert(expression) ((expression) ? (void)0 : krl_assert_fail(#expression))
#else
#define assert(expression) ((void)0)
#endif
