// A read-only view of a 64-bit little-endian ELF file: a shared object of this machine, or GPU
// code. Borrows the bytes. Every offset is checked: a damaged file gives errors or empty results,
// never a read out of bounds. Immutable after `open`; any thread may read.
#pragma once

#include <elf.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::elf {

inline constexpr std::uint16_t kElfMachineCuda = 190;  // EM_CUDA

class ElfView {
 public:
  // Fails, saying why, unless `bytes` are a shared object for this machine's architecture.
  static std::optional<ElfView> open(std::string_view bytes, std::string& why);

  // Fails, saying why, unless `bytes` are the code of a GPU (a CUBIN).
  static std::optional<ElfView> open_cubin(std::string_view bytes, std::string& why);

  const std::vector<Elf64_Phdr>& segments() const { return segments_; }
  std::optional<Elf64_Phdr> segment(std::uint32_t type) const;

  // The content of a section by its name; empty if there is none (or if it occupies no file space).
  std::string_view section(std::string_view name) const;

  struct Section {
    std::string_view name, content;  // no content if it occupies no file space
    bool writable = false;           // where the program is loaded
  };
  std::vector<Section> sections() const;

  // Symbols of ".dynsym" (what the loader binds) or ".symtab" (what the compiler knew).
  struct Symbol {
    std::string_view name;
    Elf64_Sym raw;
    bool undefined() const { return raw.st_shndx == SHN_UNDEF; }
    unsigned type() const { return ELF64_ST_TYPE(raw.st_info); }
  };
  std::vector<Symbol> dynamic_symbols() const { return symbols(".dynsym", ".dynstr"); }
  std::vector<Symbol> all_symbols() const { return symbols(".symtab", ".strtab"); }

  // Every relocation entry of the file.
  std::vector<Elf64_Rela> relocations() const;

 private:
  explicit ElfView(std::string_view bytes) : bytes_(bytes) {}

  static std::optional<ElfView> read(std::string_view bytes, std::string& why);

  std::string_view slice(std::uint64_t offset, std::uint64_t size) const;
  std::vector<Symbol> symbols(std::string_view table, std::string_view strings) const;

  std::string_view bytes_;
  std::uint16_t machine_ = EM_NONE, type_ = ET_NONE;
  std::vector<Elf64_Phdr> segments_;
  std::vector<Elf64_Shdr> sections_;
  std::string_view section_names_;
};

}  // namespace krl::elf
