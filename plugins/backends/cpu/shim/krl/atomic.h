// Atomic operations. The emulator carries them out: between blocks, warps and lanes they are what orders memory.
#pragma once

template <class T>
struct krl_atomic_type_of { static constexpr unsigned value = 31; };
#define KRL_ATOMIC_TYPE(type, id) \
  template <>                     \
  struct krl_atomic_type_of<type> { static constexpr unsigned value = id; };
KRL_ATOMIC_TYPE(int, KRL_INT32)
KRL_ATOMIC_TYPE(unsigned, KRL_UINT32)
KRL_ATOMIC_TYPE(long long, KRL_INT64)
KRL_ATOMIC_TYPE(unsigned long long, KRL_UINT64)
KRL_ATOMIC_TYPE(unsigned short, KRL_UINT16)
KRL_ATOMIC_TYPE(float, KRL_FLOAT)
KRL_ATOMIC_TYPE(double, KRL_DOUBLE)

// `types` is the set of types that CUDA has the operation for, as a mask of krl_atomic_type.
template <unsigned operation, unsigned types, class T>
static KRL_INLINE T krl_atomic_call(T* address, T value, T compare = T()) {
  constexpr unsigned type = krl_atomic_type_of<T>::value;
  static_assert(types >> type & 1, "this atomic operation does not exist for this type");
  return krl_value<T>(krl_atomic(operation, type, address, krl_word(value), krl_word(compare)));
}

#define KRL_ATOMIC_SCOPE(name, operation, types)                          \
  template <class T>                                                      \
  static KRL_INLINE T name(T* address, krl_same<T> value) {               \
    return krl_atomic_call<operation, types>(address, value);             \
  }
#define KRL_ATOMIC(name, operation, types)          \
  KRL_ATOMIC_SCOPE(name, operation, types)          \
  KRL_ATOMIC_SCOPE(name##_block, operation, types)  \
  KRL_ATOMIC_SCOPE(name##_system, operation, types)
#define KRL_WORDS (1u << KRL_INT32 | 1u << KRL_UINT32)
KRL_ATOMIC(atomicAdd, KRL_ATOMIC_ADD,
           (KRL_WORDS | 1u << KRL_UINT64 | 1u << KRL_FLOAT | 1u << KRL_DOUBLE | 1u << KRL_HALF | 1u << KRL_HALF2 |
            1u << KRL_BFLOAT16 | 1u << KRL_BFLOAT162))
KRL_ATOMIC(atomicSub, KRL_ATOMIC_SUB, KRL_WORDS)
KRL_ATOMIC(atomicExch, KRL_ATOMIC_EXCHANGE, (KRL_WORDS | 1u << KRL_UINT64 | 1u << KRL_FLOAT))
KRL_ATOMIC(atomicMin, KRL_ATOMIC_MIN, (KRL_WORDS | 1u << KRL_INT64 | 1u << KRL_UINT64))
KRL_ATOMIC(atomicMax, KRL_ATOMIC_MAX, (KRL_WORDS | 1u << KRL_INT64 | 1u << KRL_UINT64))
KRL_ATOMIC(atomicInc, KRL_ATOMIC_INCREMENT, (1u << KRL_UINT32))
KRL_ATOMIC(atomicDec, KRL_ATOMIC_DECREMENT, (1u << KRL_UINT32))
KRL_ATOMIC(atomicAnd, KRL_ATOMIC_AND, (KRL_WORDS | 1u << KRL_UINT64))
KRL_ATOMIC(atomicOr, KRL_ATOMIC_OR, (KRL_WORDS | 1u << KRL_UINT64))
KRL_ATOMIC(atomicXor, KRL_ATOMIC_XOR, (KRL_WORDS | 1u << KRL_UINT64))

#define KRL_ATOMIC_CAS(name)                                                                                \
  template <class T>                                                                                        \
  static KRL_INLINE T name(T* address, krl_same<T> compare, krl_same<T> value) {                            \
    return krl_atomic_call<KRL_ATOMIC_COMPARE_AND_SWAP, KRL_WORDS | 1u << KRL_UINT64 | 1u << KRL_UINT16>(   \
        address, value, compare);                                                                           \
  }
KRL_ATOMIC_CAS(atomicCAS)
KRL_ATOMIC_CAS(atomicCAS_block)
KRL_ATOMIC_CAS(atomicCAS_system)
#undef KRL_ATOMIC_CAS
#undef KRL_ATOMIC
#undef KRL_ATOMIC_SCOPE
