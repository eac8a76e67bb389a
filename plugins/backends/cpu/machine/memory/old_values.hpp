// The values that strong writes of a launch have replaced. A read that nothing orders after such a
// write may find either value on a GPU: its memory is less consistent than that of the machine,
// which executes one instruction after the other.
//
// Used by one thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "plugins/backends/cpu/machine/memory/identity.hpp"
#include "plugins/backends/cpu/machine/memory/knowledge.hpp"

namespace krl::machine {

struct OldValue {
  static constexpr std::uint32_t kMostBytes = 16;

  Record write = 0;           // the write that has replaced it
  std::uint64_t version = 0;  // counts all writes, from 1
  std::uint64_t time = 0;     // see GlobalShadow
  std::uint32_t bytes = 0;    // size of the write
  std::array<std::byte, kMostBytes> value{};
  Knowledge published;  // published with the word until then
};

class OldValues {
 public:
  // `kept`: by this run; otherwise none are.
  void begin_run(bool kept) { kept_ = kept; }
  void begin_launch() {
    values_.clear();
    versions_ = 0;
  }
  bool kept() const { return kept_; }

  // The version of the write. A launch that writes to very many words forgets some.
  std::uint64_t replace(std::uint64_t address, OldValue old) {
    old.version = ++versions_;
    if (values_.size() < kMostWords || values_.count(address) != 0) values_[address] = old;
    return versions_;
  }
  // Null: unknown.
  const OldValue* find(std::uint64_t address) const {
    const auto found = values_.find(address);
    return found == values_.end() ? nullptr : &found->second;
  }

 private:
  static constexpr std::size_t kMostWords = 1 << 16;

  bool kept_ = false;
  std::uint64_t versions_ = 0;
  std::unordered_map<std::uint64_t, OldValue> values_;
};

}  // namespace krl::machine
