#include "plugins/backends/elf/elf_view.hpp"

#include <cstring>

namespace krl::elf {
namespace {

// The objects of type T that `bytes` hold, one after another; a remainder is dropped.
template <class T>
std::vector<T> objects(std::string_view bytes) {
  std::vector<T> result(bytes.size() / sizeof(T));
  if (!result.empty()) std::memcpy(result.data(), bytes.data(), result.size() * sizeof(T));
  return result;
}

std::string_view text_at(std::string_view strings, std::uint64_t offset) {
  if (offset >= strings.size()) return {};
  const auto rest = strings.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::string_view ElfView::slice(std::uint64_t offset, std::uint64_t size) const {
  if (offset > bytes_.size() || size > bytes_.size() - offset) return {};
  return bytes_.substr(offset, size);
}

std::optional<ElfView> ElfView::open_cubin(std::string_view bytes, std::string& why) {
  Elf64_Ehdr header;
  if (bytes.size() < sizeof header) {
    why = "the module is not an ELF file: " + std::to_string(bytes.size()) + " bytes";
    return std::nullopt;
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB) {
    why = "the module is not a 64-bit ELF file";
    return std::nullopt;
  }
  if ((header.e_phnum != 0 && header.e_phentsize != sizeof(Elf64_Phdr)) ||
      (header.e_shnum != 0 && header.e_shentsize != sizeof(Elf64_Shdr))) {
    why = "the module's ELF header names unknown table formats";
    return std::nullopt;
  }
  if (header.e_machine != kElfMachineCuda) {
    why = "the module is not GPU code";
    return std::nullopt;
  }
  ElfView view(bytes);
  view.sections_ =
      objects<Elf64_Shdr>(view.slice(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)));
  if (header.e_shstrndx < view.sections_.size()) {
    const auto& names = view.sections_[header.e_shstrndx];
    view.section_names_ = view.slice(names.sh_offset, names.sh_size);
  }
  return view;
}

std::string_view ElfView::section(std::string_view name) const {
  for (const auto& section : sections_) {
    if (section.sh_type != SHT_NOBITS && text_at(section_names_, section.sh_name) == name) {
      return slice(section.sh_offset, section.sh_size);
    }
  }
  return {};
}

std::vector<ElfView::Section> ElfView::sections() const {
  std::vector<Section> all;
  for (const auto& section : sections_) {
    const bool stored = section.sh_type != SHT_NOBITS;
    all.push_back({text_at(section_names_, section.sh_name),
                   stored ? slice(section.sh_offset, section.sh_size) : std::string_view(),
                   (section.sh_flags & SHF_WRITE) != 0});
  }
  return all;
}

std::vector<std::string_view> ElfView::symbol_names() const {
  const auto names = section(".strtab");
  std::vector<std::string_view> result;
  for (const auto& symbol : objects<Elf64_Sym>(section(".symtab"))) {
    result.push_back(text_at(names, symbol.st_name));
  }
  return result;
}

}  // namespace krl::elf
