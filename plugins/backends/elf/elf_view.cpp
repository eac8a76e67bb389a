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

std::optional<ElfView> ElfView::read(std::string_view bytes, std::string& why) {
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
  ElfView view(bytes);
  view.machine_ = header.e_machine;
  view.type_ = header.e_type;
  view.segments_ =
      objects<Elf64_Phdr>(view.slice(header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr)));
  view.sections_ =
      objects<Elf64_Shdr>(view.slice(header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr)));
  if (header.e_shstrndx < view.sections_.size()) {
    const auto& names = view.sections_[header.e_shstrndx];
    view.section_names_ = view.slice(names.sh_offset, names.sh_size);
  }
  return view;
}

std::optional<ElfView> ElfView::open(std::string_view bytes, std::string& why) {
  auto view = read(bytes, why);
  if (!view || (view->machine_ == EM_X86_64 && view->type_ == ET_DYN)) return view;
  why = "the module is not an x86-64 shared object";
  return std::nullopt;
}

std::optional<ElfView> ElfView::open_cubin(std::string_view bytes, std::string& why) {
  auto view = read(bytes, why);
  if (!view || view->machine_ == kElfMachineCuda) return view;
  why = "the module is not GPU code";
  return std::nullopt;
}

std::optional<Elf64_Phdr> ElfView::segment(std::uint32_t type) const {
  for (const auto& segment : segments_) {
    if (segment.p_type == type) return segment;
  }
  return std::nullopt;
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

std::vector<ElfView::Symbol> ElfView::symbols(std::string_view table,
                                              std::string_view strings) const {
  const auto names = section(strings);
  std::vector<Symbol> result;
  for (const auto& raw : objects<Elf64_Sym>(section(table))) {
    result.push_back({text_at(names, raw.st_name), raw});
  }
  return result;
}

std::vector<Elf64_Rela> ElfView::relocations() const {
  std::vector<Elf64_Rela> result;
  for (const auto& section : sections_) {
    if (section.sh_type != SHT_RELA) continue;
    const auto entries = objects<Elf64_Rela>(slice(section.sh_offset, section.sh_size));
    result.insert(result.end(), entries.begin(), entries.end());
  }
  return result;
}

}  // namespace krl::elf
