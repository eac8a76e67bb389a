// Loads and stores: the lanes' bytes and their registers.
#include "plugins/backends/cpu/machine/memory/load_store.hpp"

#include <cstring>
#include <type_traits>

#include "plugins/backends/cpu/machine/memory/lane_addresses.hpp"

namespace krl::machine {
namespace {

struct Bytes16 {
  std::uint64_t half[2];
};

// A value of memory as a register has it: widened, with its sign if it has one.
template <class Register, class Stored>
Register widened(Stored value) {
  if constexpr (std::is_same_v<Register, Stored>) {
    return value;
  } else {
    return static_cast<Register>(value);
  }
}

template <class Register, class Stored>
void load_one(const CheckedLanes& lanes, Register* to) {
  const Mask mask = lanes.addresses.mask;
  constexpr bool same = sizeof(Stored) == sizeof(Register);
  if (same && lanes.pattern() == Shape::kContiguous) {
    std::memcpy(to, lanes.at, sizeof(Register) * kLanes);
    return;
  }
  if (lanes.pattern() == Shape::kUniform) {
    Stored value;
    std::memcpy(&value, lanes.at, sizeof value);
    if constexpr (std::is_class_v<Stored>) {
      for (Mask rest = mask; rest != 0; rest &= rest - 1) to[std::countr_zero(rest)] = value;
    } else {
      const auto wide = widened<Register>(value);
      set_lanes(to, mask, [&](unsigned) { return wide; });
    }
    return;
  }
  const auto load_lane = [&](unsigned lane) {
    Stored value;
    std::memcpy(&value, lanes.of(lane), sizeof value);
    to[lane] = widened<Register>(value);
  };
  if (mask == kAllLanes) {
    for (unsigned lane = 0; lane < kLanes; ++lane) load_lane(lane);
    return;
  }
  for (Mask rest = mask; rest != 0; rest &= rest - 1) {
    load_lane(static_cast<unsigned>(std::countr_zero(rest)));
  }
}

template <class Register, class Stored>
void load_vector(const CheckedLanes& lanes, const MemoryAccess& access, std::byte* frame) {
  for (std::uint32_t k = 0; k < access.elements; ++k) {
    if (access.rows[k] == 0) continue;
    Register* const to = row<Register>(frame, access.rows[k]);
    for (Mask rest = lanes.addresses.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      Stored value;
      std::memcpy(&value, lanes.of(lane) + k * sizeof(Stored), sizeof value);
      to[lane] = widened<Register>(value);
    }
  }
}

// True if all lanes have the same offset, so that their words are adjacent.
bool is_uniform(const LaneAddresses& addresses) {
  std::int32_t any = 0;
  for (const std::int32_t delta : addresses.delta) any |= delta;
  return any == 0;
}

template <class Register, class Stored>
void load_local(const CheckedLanes& lanes, const MemoryAccess& access, std::byte* frame) {
  const bool side_by_side =
      sizeof(Stored) == 4 && sizeof(Register) == 4 && is_uniform(lanes.addresses);
  for (std::uint32_t k = 0; k < access.elements; ++k) {
    if (access.rows[k] == 0) continue;
    Register* const to = row<Register>(frame, access.rows[k]);
    const auto at = static_cast<std::uint32_t>(k * sizeof(Stored));
    if constexpr (sizeof(Register) == 4) {
      if (side_by_side) {
        const auto word = (static_cast<std::uint32_t>(lanes.addresses.first) + at) / 4;
        store_lanes(row<std::uint32_t>(frame, access.rows[k]), lanes.local->word_row(word),
                    lanes.addresses.mask);
        continue;
      }
    }
    for (Mask rest = lanes.addresses.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      Stored value;
      lanes.local->read(lane, lanes.local_offset(lane) + at, sizeof value,
                        reinterpret_cast<std::byte*>(&value));
      to[lane] = widened<Register>(value);
    }
  }
}

WatchedWords words_of(const Instruction& i, const CheckedLanes& lanes) {
  WatchedWords words;
  words.bytes = i.access->lane_bytes();
  for (Mask rest = lanes.addresses.mask; rest != 0; rest &= rest - 1) {
    words.add(lanes.of(static_cast<unsigned>(std::countr_zero(rest))));
  }
  return words;
}

// Returns the time of a strong access, before it is made.
double time_of(Warp& warp) {
  return warp.memory().keeps_time() ? warp.memory().now(warp.index()) : 0;
}

// A strong load may be part of a wait for other threads.
void note_load(const Instruction& i, const CheckedLanes& lanes, Warp& warp, double now) {
  const WatchedWords words = words_of(i, lanes);
  warp.saw(i, words);
  if (warp.memory().keeps_time()) warp.memory().receive(warp.index(), words, now);
}

void note_store(const Instruction& i, const CheckedLanes& lanes, Warp& warp, double now) {
  if (warp.memory().keeps_time()) warp.memory().hand_over(warp.index(), words_of(i, lanes), now);
}

template <class Register, class Stored>
void load(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  BlockMemory& memory = warp.memory();
  const MemoryAccess& access = *i.access;
  const double now = access.strong ? time_of(warp) : 0;
  const auto move = [&](const CheckedLanes& lanes) {
    if (lanes.local != nullptr) [[unlikely]] {
      load_local<Register, Stored>(lanes, access, frame);
    } else if (access.elements > 1) {
      load_vector<Register, Stored>(lanes, access, frame);
    } else if (access.rows[0] != 0) {
      load_one<Register, Stored>(lanes, row<Register>(frame, access.rows[0]));
    }
    if (access.strong && lanes.local == nullptr) [[unlikely]]
      note_load(i, lanes, warp, now);
  };
  Request request = request_of(i, warp);
  request.may_be_old = memory.launch().old_values().kept();
  access_memory(memory, request, AccessForm::addresses(i, frame), mask, AccessForm::space(i), frame,
                move);
  if (request.may_be_old) [[unlikely]]
    memory.show_present();
  if (i.extra[2] != 0) [[unlikely]]
    memory.fence(warp.index(), mask, {i.extra[2]});
}

template <class Stored>
void store_lanes_of(const CheckedLanes& lanes, const StoredValues& values) {
  const bool plain = values.elements == 1 && values.row_bytes[0] == sizeof(Stored);
  if (plain && lanes.local == nullptr && lanes.pattern() == Shape::kContiguous) {
    std::memcpy(lanes.at, values.rows[0], sizeof(Stored) * kLanes);
    return;
  }
  if (plain && sizeof(Stored) == 4 && lanes.local != nullptr && is_uniform(lanes.addresses)) {
    const auto word = static_cast<std::uint32_t>(lanes.addresses.first) / 4;
    store_lanes(lanes.local->word_row(word), reinterpret_cast<const std::uint32_t*>(values.rows[0]),
                lanes.addresses.mask);
    return;
  }
  for (Mask rest = lanes.addresses.mask; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for (std::uint32_t k = 0; k < values.elements; ++k) {
      const std::byte* const value = values.rows[k] + lane * values.row_bytes[k];
      if (lanes.local != nullptr) {
        const auto at = lanes.local_offset(lane) + static_cast<std::uint32_t>(k * sizeof(Stored));
        lanes.local->write(lane, at, sizeof(Stored), value);
      } else {
        std::memcpy(lanes.of(lane) + k * sizeof(Stored), value, sizeof(Stored));
      }
    }
  }
}

template <class Stored>
void store(const Instruction& i, Warp& warp, std::byte* frame, Mask mask) {
  BlockMemory& memory = warp.memory();
  const MemoryAccess& access = *i.access;
  StoredValues values;
  values.elements = access.elements;
  values.element_bytes = sizeof(Stored);
  for (std::uint32_t k = 0; k < access.elements; ++k) {
    values.rows[k] = frame + access.rows[k];
    values.row_bytes[k] = access.register_bytes[k];
  }
  if (i.extra[2] != 0) [[unlikely]]
    memory.fence(warp.index(), mask, {i.extra[2]});
  Request request = request_of(i, warp);
  request.values = &values;
  const double now = access.strong ? time_of(warp) : 0;
  access_memory(memory, request, AccessForm::addresses(i, frame), mask, AccessForm::space(i), frame,
                [&](const CheckedLanes& lanes) {
                  store_lanes_of<Stored>(lanes, values);
                  if (access.strong && lanes.local == nullptr) [[unlikely]]
                    note_store(i, lanes, warp, now);
                });
}

template <class Unsigned, class Signed>
Operation widening_load(std::uint32_t register_bytes, bool is_signed) {
  if constexpr (sizeof(Unsigned) <= 2) {
    if (register_bytes == 2) {
      return is_signed ? load<std::uint16_t, Signed> : load<std::uint16_t, Unsigned>;
    }
  }
  if (register_bytes == 4) {
    return is_signed ? load<std::uint32_t, Signed> : load<std::uint32_t, Unsigned>;
  }
  if (register_bytes != 8) return nullptr;
  return is_signed ? load<std::uint64_t, Signed> : load<std::uint64_t, Unsigned>;
}

}  // namespace

Operation load_operation(std::uint32_t bytes, std::uint32_t register_bytes, bool is_signed) {
  switch (bytes) {
    case 1:
      return widening_load<std::uint8_t, std::int8_t>(register_bytes, is_signed);
    case 2:
      return widening_load<std::uint16_t, std::int16_t>(register_bytes, is_signed);
    case 4:
      return widening_load<std::uint32_t, std::int32_t>(register_bytes, is_signed);
    case 8:
      return register_bytes == 8 ? load<std::uint64_t, std::uint64_t> : nullptr;
    case 16:
      return register_bytes == 16 ? load<Bytes16, Bytes16> : nullptr;
    default:
      return nullptr;
  }
}

Operation store_operation(std::uint32_t bytes) {
  switch (bytes) {
    case 1:
      return store<std::uint8_t>;
    case 2:
      return store<std::uint16_t>;
    case 4:
      return store<std::uint32_t>;
    case 8:
      return store<std::uint64_t>;
    case 16:
      return store<Bytes16>;
    default:
      return nullptr;
  }
}

}  // namespace krl::machine
