#include "plugins/backends/ptx/symbols.hpp"

#include <charconv>

namespace krl::ptx {
namespace {

// Returns where the number of "%r12" begins, if it has no leading zeros.
std::size_t number_in(std::string_view name) {
  std::size_t at = name.size();
  while (at > 0 && name[at - 1] >= '0' && name[at - 1] <= '9') --at;
  while (at + 1 < name.size() && name[at] == '0') ++at;  // "%r0" and "4" of "%r04"
  return at;
}

}  // namespace

void Symbols::open_scope() { scopes_.push_back(entries_.size()); }

void Symbols::close_scope() {
  for (; entries_.size() > scopes_.back(); entries_.pop_back()) {
    const Entry& entry = entries_.back();
    Names& names = names_of(entry);
    if (entry.hides == 0) {
      names.erase(entry.name);
    } else {
      names[entry.name] = entry.hides;
    }
  }
  scopes_.pop_back();
}

bool Symbols::declare(std::string_view name, Symbol symbol) { return add({name, symbol, 0, 0, 0}); }

bool Symbols::declare_registers(std::string_view prefix, std::uint32_t first, std::uint32_t count) {
  return add({prefix, {Symbol::kRegister, Operand::kModule, first}, count, 0, 0});
}

bool Symbols::add(Entry entry) {
  entry.scope = static_cast<std::uint32_t>(scopes_.size());
  std::uint32_t& innermost = names_of(entry)[entry.name];
  if (innermost != 0 && entries_[innermost - 1].scope == entry.scope) return false;
  entry.hides = innermost;
  entries_.push_back(entry);
  innermost = static_cast<std::uint32_t>(entries_.size());
  return true;
}

const Symbols::Entry* Symbols::entry_of(const Names& names, std::string_view name) const {
  const auto found = names.find(name);
  return found == names.end() ? nullptr : &entries_[found->second - 1];
}

std::optional<Symbol> Symbols::find(std::string_view name) const {
  const Entry* const entry = entry_of(names_, name);
  const std::size_t digits = number_in(name);
  if (digits < name.size()) {
    const Entry* const numbered = entry_of(prefixes_, name.substr(0, digits));
    std::uint32_t number = 0;
    const auto parsed = std::from_chars(name.data() + digits, name.data() + name.size(), number);
    if (numbered != nullptr && parsed.ec == std::errc() && number < numbered->count &&
        (entry == nullptr || entry->scope < numbered->scope)) {
      Symbol symbol = numbered->symbol;
      symbol.index += number;
      return symbol;
    }
  }
  if (entry == nullptr) return std::nullopt;
  return entry->symbol;
}

}  // namespace krl::ptx
