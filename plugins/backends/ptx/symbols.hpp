// Resolves names inside a function and its nested blocks: an inner declaration hides an outer one.
// Labels have their own rules and are not included.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "plugins/backends/ptx/module.hpp"

namespace krl::ptx {

struct Symbol {
  enum Kind : std::uint8_t { kRegister, kVariable, kFunction };
  Kind kind = kRegister;
  Operand::Scope scope = Operand::kModule;  // scope of a variable
  std::uint32_t index = 0;
};

class Symbols {
 public:
  void open_scope();
  void close_scope();

  // False: the innermost scope has such a name already.
  bool declare(std::string_view name, Symbol symbol);
  // "%r<10>": registers %r0 to %r9 with indices from `first`.
  bool declare_registers(std::string_view prefix, std::uint32_t first, std::uint32_t count);

  // The register of a name that declare_registers gave has the index of its number.
  std::optional<Symbol> find(std::string_view name) const;

 private:
  struct Entry {
    std::string_view name;
    Symbol symbol;
    std::uint32_t count = 0;  // number of numbered registers; 0: a single register of this name
    std::uint32_t scope = 0;  // nesting depth
    std::uint32_t hides = 0;  // an entry, by its number from 1; 0: none
  };
  using Names = std::map<std::string_view, std::uint32_t>;  // the innermost entry, from 1

  bool add(Entry entry);
  Names& names_of(const Entry& entry) { return entry.count == 0 ? names_ : prefixes_; }
  const Entry* entry_of(const Names& names, std::string_view name) const;

  std::vector<Entry> entries_;
  std::vector<std::size_t> scopes_;  // the entries before each open scope
  Names names_, prefixes_;
};

}  // namespace krl::ptx
