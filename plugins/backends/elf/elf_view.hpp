// A read-only view of GPU code, which is a 64-bit little-endian ELF file. Borrows the bytes. Every
// offset is checked: a damaged file causes errors or empty results, never a read out of bounds.
// Immutable; any thread may read.
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
  // Fails with `why` unless `bytes` are the code of a GPU (a CUBIN).
  static std::optional<ElfView> open_cubin(std::string_view bytes, std::string& why);

  // Returns the content of a section by its name; empty if there is none (or if it occupies no file
  // space).
  std::string_view section(std::string_view name) const;

  struct Section {
    std::string_view name, content;  // no content if it occupies no file space
    bool writable = false;           // writable where the program is loaded
  };
  std::vector<Section> sections() const;

  // Indexed like the symbols of ".symtab".
  std::vector<std::string_view> symbol_names() const;

 private:
  explicit ElfView(std::string_view bytes) : bytes_(bytes) {}

  std::string_view slice(std::uint64_t offset, std::uint64_t size) const;

  std::string_view bytes_;
  std::vector<Elf64_Shdr> sections_;
  std::string_view section_names_;
};

}  // namespace krl::elf
