#include "plugins/backends/cpu/emulator/atomic_operation.hpp"

#include <bit>
#include <cmath>

namespace krl::emulator {
namespace {

template <class T>
T value_of(std::uint64_t word) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(word);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<T>(static_cast<std::uint32_t>(word));
  } else {
    return std::bit_cast<T>(static_cast<std::uint16_t>(word));
  }
}

template <class T>
std::uint64_t word_of(T value) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<std::uint64_t>(value);
  } else if constexpr (sizeof(T) == 4) {
    return std::bit_cast<std::uint32_t>(value);
  } else {
    return std::bit_cast<std::uint16_t>(value);
  }
}

template <class T>
std::uint64_t integer(unsigned operation, std::uint64_t old_word, std::uint64_t value_word,
                      std::uint64_t compare) {
  const T old = value_of<T>(old_word), value = value_of<T>(value_word);
  const auto unsigned_old = old_word, unsigned_value = value_word;
  switch (operation) {
    case KRL_ATOMIC_ADD:
      return unsigned_old + unsigned_value;
    case KRL_ATOMIC_SUB:
      return unsigned_old - unsigned_value;
    case KRL_ATOMIC_EXCHANGE:
      return value_word;
    case KRL_ATOMIC_MIN:
      return value < old ? value_word : old_word;
    case KRL_ATOMIC_MAX:
      return value > old ? value_word : old_word;
    case KRL_ATOMIC_INCREMENT:
      return old >= value ? 0 : unsigned_old + 1;
    case KRL_ATOMIC_DECREMENT:
      return old == 0 || old > value ? value_word : unsigned_old - 1;
    case KRL_ATOMIC_COMPARE_AND_SWAP:
      return old == value_of<T>(compare) ? value_word : old_word;
    case KRL_ATOMIC_AND:
      return unsigned_old & unsigned_value;
    case KRL_ATOMIC_OR:
      return unsigned_old | unsigned_value;
    case KRL_ATOMIC_XOR:
      return unsigned_old ^ unsigned_value;
    default:
      return old_word;
  }
}

template <class T>
std::uint64_t floating(unsigned operation, std::uint64_t old, std::uint64_t value) {
  if (operation == KRL_ATOMIC_EXCHANGE) return value;
  return word_of<T>(value_of<T>(old) + value_of<T>(value));
}

// One addition of 16-bit floats: exact in single precision up to the one rounding, for both
// formats.
std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
  const float sum = static_cast<float>(std::bit_cast<_Float16>(a)) +
                    static_cast<float>(std::bit_cast<_Float16>(b));
  return std::bit_cast<std::uint16_t>(static_cast<_Float16>(sum));
}

std::uint16_t add_bfloat(std::uint16_t a, std::uint16_t b) {
  const float sum =
      std::bit_cast<float>(std::uint32_t{a} << 16) + std::bit_cast<float>(std::uint32_t{b} << 16);
  if (std::isnan(sum)) return 0x7fff;
  const auto bits = std::bit_cast<std::uint32_t>(sum);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <std::uint16_t (*add)(std::uint16_t, std::uint16_t)>
std::uint64_t pair(std::uint64_t a, std::uint64_t b) {
  const auto low = add(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  const auto high = add(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
  return std::uint64_t{high} << 16 | low;
}

}  // namespace

std::uint32_t atomic_size(unsigned type) {
  switch (type) {
    case KRL_UINT16:
    case KRL_HALF:
    case KRL_BFLOAT16:
      return 2;
    case KRL_INT32:
    case KRL_UINT32:
    case KRL_FLOAT:
    case KRL_HALF2:
    case KRL_BFLOAT162:
      return 4;
    case KRL_INT64:
    case KRL_UINT64:
    case KRL_DOUBLE:
      return 8;
    default:
      return 0;
  }
}

std::uint64_t atomic_result(unsigned operation, unsigned type, std::uint64_t old,
                            std::uint64_t value, std::uint64_t compare) {
  switch (type) {
    case KRL_INT32:
      return integer<std::int32_t>(operation, old, value, compare);
    case KRL_UINT32:
      return integer<std::uint32_t>(operation, old, value, compare);
    case KRL_INT64:
      return integer<std::int64_t>(operation, old, value, compare);
    case KRL_UINT64:
      return integer<std::uint64_t>(operation, old, value, compare);
    case KRL_UINT16:
      return integer<std::uint16_t>(operation, old, value, compare);
    case KRL_FLOAT:
      return floating<float>(operation, old, value);
    case KRL_DOUBLE:
      return floating<double>(operation, old, value);
    case KRL_HALF:
      return add_half(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(value));
    case KRL_HALF2:
      return pair<add_half>(old, value);
    case KRL_BFLOAT16:
      return add_bfloat(static_cast<std::uint16_t>(old), static_cast<std::uint16_t>(value));
    case KRL_BFLOAT162:
      return pair<add_bfloat>(old, value);
    default:
      return old;
  }
}

}  // namespace krl::emulator
