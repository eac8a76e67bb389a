#include "plugins/backends/cpu/emulator/elf_module.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "plugins/backends/elf/elf_view.hpp"

namespace krl::emulator {
namespace {

constexpr std::uint64_t kPage = 4096;
// A module is a kernel or two; a larger one is an attack on memory.
constexpr std::uint64_t kMaxImageBytes = 64u << 20;
constexpr std::uint32_t kMaxKernels = 64;

// "tile" and "_Z6kernelPKf" from "_ZZ6kernelPKfE4tile", the mangled name of a variable inside a
// function.
SharedVariable shared_variable(std::string_view mangled) {
  SharedVariable variable;
  variable.name = std::string(mangled);
  if (mangled.substr(0, 3) != "_ZZ") return variable;
  for (std::size_t e = mangled.size(); e-- > 3;) {
    if (mangled[e] != 'E') continue;
    std::size_t digits = e + 1, length = 0;
    while (digits < mangled.size() && std::isdigit(static_cast<unsigned char>(mangled[digits]))) {
      length = length * 10 + static_cast<std::size_t>(mangled[digits++] - '0');
    }
    if (length == 0 || digits + length > mangled.size()) continue;
    variable.name = std::string(mangled.substr(digits, length));
    variable.function = "_Z" + std::string(mangled.substr(3, e - 3));
    return variable;
  }
  return variable;
}

}  // namespace

// Builds an ElfModule step by step; each step returns false and sets `why_` if the file is unfit.
class ElfModule::Loader {
 public:
  Loader(const ElfView& view, ElfModule& module, Resolver resolve, std::string& why)
      : view_(view), module_(module), resolve_(resolve), why_(why) {}

  bool load() {
    return map_segments() && bind() && protect() && read_kernels() && read_shared_variables();
  }

 private:
  bool fail(std::string why) {
    why_ = std::move(why);
    return false;
  }

  std::byte* at(std::uint64_t offset) const {
    return reinterpret_cast<std::byte*>(module_.image_.begin) + offset;
  }
  bool inside(std::uint64_t offset, std::uint64_t size) const {
    const std::uint64_t all = module_.image_.end - module_.image_.begin;
    return offset <= all && size <= all - offset;
  }

  bool map_segments() {
    std::uint64_t end = 0;
    for (const auto& s : view_.segments()) {
      if (s.p_type != PT_LOAD) continue;
      if (s.p_vaddr > kMaxImageBytes || s.p_memsz > kMaxImageBytes || s.p_filesz > s.p_memsz ||
          s.p_offset > module_.bytes_.size() || s.p_filesz > module_.bytes_.size() - s.p_offset) {
        return fail("unsupported on cpu: more than 64 MiB of __device__ variables");
      }
      end = std::max(end, s.p_vaddr + s.p_memsz);
    }
    end = (end + kPage - 1) & ~(kPage - 1);
    if (end == 0 || end > kMaxImageBytes) {
      return fail("unsupported on cpu: more than 64 MiB of __device__ variables");
    }
    void* memory = mmap(nullptr, end, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) return fail("no memory for the module");
    const auto base = reinterpret_cast<std::uintptr_t>(memory);
    module_.image_ = {base, base + end};
    for (const auto& s : view_.segments()) {
      if (s.p_type == PT_LOAD) std::memcpy(at(s.p_vaddr), &module_.bytes_[s.p_offset], s.p_filesz);
    }
    return true;
  }

  // The address or value that relocation `r` asks for; false if the emulator does not have it.
  bool value_of(const Elf64_Rela& r, const std::vector<ElfView::Symbol>& symbols,
                std::uint64_t& value) {
    const std::uint64_t symbol_index = ELF64_R_SYM(r.r_info);
    if (symbol_index >= symbols.size()) return fail("the module's relocations are damaged");
    const auto& symbol = symbols[symbol_index];
    const auto addend = static_cast<std::uint64_t>(r.r_addend);
    switch (ELF64_R_TYPE(r.r_info)) {
      case R_X86_64_RELATIVE:
        value = module_.image_.begin + addend;
        return true;
      case R_X86_64_DTPMOD64:
        value = 0;
        return true;
      case R_X86_64_DTPOFF64:  // undefined: extern __shared__, behind the static variables
        value = (symbol.undefined() ? dynamic_shared_offset() : symbol.raw.st_value) + addend;
        return true;
      case R_X86_64_64:
      case R_X86_64_GLOB_DAT:
      case R_X86_64_JUMP_SLOT:
        if (symbol.undefined()) {
          void* address = resolve_(symbol.name);
          if (address == nullptr) {
            return fail("unsupported on cpu: " + std::string(symbol.name));
          }
          value = reinterpret_cast<std::uint64_t>(address) + addend;
          module_.slots_.emplace_back(symbol.name, module_.image_.begin + r.r_offset);
        } else {
          value = module_.image_.begin + symbol.raw.st_value + addend;
        }
        return true;
      default:
        return fail("unsupported on cpu: relocation type " +
                    std::to_string(ELF64_R_TYPE(r.r_info)) + " (device code of another model?)");
    }
  }

  bool bind() {
    const auto symbols = view_.dynamic_symbols();
    for (const auto& relocation : view_.relocations()) {
      if (ELF64_R_TYPE(relocation.r_info) == R_X86_64_NONE) continue;
      std::uint64_t value = 0;
      if (!inside(relocation.r_offset, sizeof value)) {
        return fail("the module's relocations are damaged");
      }
      if (!value_of(relocation, symbols, value)) return false;
      std::memcpy(at(relocation.r_offset), &value, sizeof value);
    }
    return true;
  }

  // Text readable and executable, what relocation filled read-only, the rest of the data writable.
  bool protect() {
    for (const auto& s : view_.segments()) {
      if (s.p_type != PT_LOAD) continue;
      const std::uintptr_t begin = module_.image_.begin + s.p_vaddr, end = begin + s.p_memsz;
      if (s.p_flags & PF_X) module_.text_ = {begin, end};
      if (s.p_flags & PF_W) module_.variables_ = {begin, end};
    }
    module_.constants_ = module_.text_;
    if (module_.text_.begin == 0) return fail("the module has no code");
    if (const auto relro = view_.segment(PT_GNU_RELRO); relro && module_.variables_.begin != 0) {
      module_.variables_.begin = std::min(
          module_.variables_.end,
          module_.image_.begin + ((relro->p_vaddr + relro->p_memsz + kPage - 1) & ~(kPage - 1)));
      module_.constants_.end = module_.variables_.begin;
    }
    const std::uintptr_t split = (module_.text_.end + kPage - 1) & ~(kPage - 1);
    const auto* text = reinterpret_cast<void*>(module_.image_.begin);
    if (mprotect(const_cast<void*>(text), split - module_.image_.begin, PROT_READ | PROT_EXEC) !=
        0) {
      return fail("cannot make the module executable");
    }
    const std::uintptr_t writable = module_.variables_.begin & ~(kPage - 1);
    if (module_.variables_.begin != 0 && writable > split) {
      mprotect(reinterpret_cast<void*>(split), writable - split, PROT_READ);
    }
    return read_constructors();
  }

  bool read_constructors() {
    const auto dynamic = view_.segment(PT_DYNAMIC);
    if (!dynamic || !inside(dynamic->p_vaddr, dynamic->p_memsz)) return true;
    std::uint64_t array = 0, bytes = 0;
    for (std::uint64_t o = 0; o + sizeof(Elf64_Dyn) <= dynamic->p_memsz; o += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      std::memcpy(&entry, at(dynamic->p_vaddr + o), sizeof entry);
      if (entry.d_tag == DT_INIT_ARRAY) array = entry.d_un.d_ptr;
      if (entry.d_tag == DT_INIT_ARRAYSZ) bytes = entry.d_un.d_val;
    }
    if (!inside(array, bytes)) return fail("the module's constructors are damaged");
    module_.constructors_.resize(bytes / sizeof(void (*)()));
    if (bytes != 0) std::memcpy(module_.constructors_.data(), at(array), bytes);
    return true;
  }

  bool read_kernels() {
    const auto symbols = view_.all_symbols();
    for (const auto& symbol : view_.dynamic_symbols()) {
      constexpr std::string_view kPrefix = "krl_kernel_";
      if (symbol.undefined() || symbol.name.substr(0, kPrefix.size()) != kPrefix) continue;
      std::uint32_t index = 0;
      for (char c : symbol.name.substr(kPrefix.size())) {
        if (c < '0' || c > '9' || index >= kMaxKernels)
          return fail("a kernel's record is misnamed");
        index = index * 10 + static_cast<std::uint32_t>(c - '0');
      }
      if (index >= kMaxKernels || !inside(symbol.raw.st_value, sizeof(krl_kernel_record))) {
        return fail("more than 64 kernels, or a damaged record of one");
      }
      if (module_.kernels_.size() <= index) {
        module_.kernels_.resize(index + 1);
        module_.kernel_functions_.resize(index + 1);
      }
      const auto* record = reinterpret_cast<const krl_kernel_record*>(at(symbol.raw.st_value));
      module_.kernels_[index] = record;
      const std::uint64_t entry =
          reinterpret_cast<std::uintptr_t>(record->entry) - module_.image_.begin;
      for (const auto& function : symbols) {
        if (function.type() == STT_FUNC && function.raw.st_value == entry) {
          module_.kernel_functions_[index] = std::string(function.name);
        }
      }
    }
    return true;
  }

  std::uint64_t dynamic_shared_offset() const {
    const auto tls = view_.segment(PT_TLS);
    return tls ? (tls->p_memsz + 15) & ~std::uint64_t{15} : 0;
  }

  bool read_shared_variables() {
    if (const auto tls = view_.segment(PT_TLS)) {
      if (tls->p_filesz != 0)
        return fail("unsupported on cpu: a __shared__ variable with an initialiser");
      if (tls->p_memsz > kMaxImageBytes) return fail("__shared__ variables of more than 64 MiB");
    }
    module_.shared_bytes_ = static_cast<std::uint32_t>(dynamic_shared_offset());
    for (const auto& symbol : view_.all_symbols()) {
      if (symbol.type() != STT_TLS || symbol.undefined()) continue;
      auto variable = shared_variable(symbol.name);
      variable.offset = symbol.raw.st_value;
      variable.bytes = symbol.raw.st_size;
      module_.shared_variables_.push_back(std::move(variable));
    }
    return true;
  }

  const ElfView& view_;
  ElfModule& module_;
  Resolver resolve_;
  std::string& why_;
};

std::unique_ptr<ElfModule> ElfModule::load(std::string_view bytes, Resolver resolve,
                                           std::string& why) {
  std::unique_ptr<ElfModule> module(new ElfModule);
  module->bytes_ = std::string(bytes);
  const auto view = ElfView::open(module->bytes_, why);
  if (!view) return nullptr;
  if (!Loader(*view, *module, resolve, why).load()) return nullptr;
  return module;
}

ElfModule::~ElfModule() {
  if (image_.begin != 0) {
    munmap(reinterpret_cast<void*>(image_.begin), image_.end - image_.begin);
  }
}

const krl_kernel_record* ElfModule::kernel(std::size_t index) const {
  return index < kernels_.size() ? kernels_[index] : nullptr;
}

void ElfModule::run_constructors() const {
  for (auto* constructor : constructors_) constructor();
}

void ElfModule::take_snapshot() {
  const auto* begin = reinterpret_cast<const std::byte*>(variables_.begin);
  snapshot_.assign(begin, begin + (variables_.end - variables_.begin));
}

void ElfModule::restore_snapshot() {
  if (snapshot_.empty()) return;
  std::memcpy(reinterpret_cast<void*>(variables_.begin), snapshot_.data(), snapshot_.size());
}

std::uint32_t ElfModule::shared_bytes_of_kernel(std::size_t index) const {
  const auto& own = kernel_functions_.at(index);
  std::uint64_t bytes = 0;
  for (const auto& variable : shared_variables_) {
    const bool of_other_kernel =
        variable.function != own && std::find(kernel_functions_.begin(), kernel_functions_.end(),
                                              variable.function) != kernel_functions_.end();
    if (!of_other_kernel) bytes += variable.bytes;
  }
  return static_cast<std::uint32_t>(bytes);
}

std::vector<std::uint32_t> ElfModule::call_sites(std::string_view hook) const {
  constexpr std::size_t kCallBytes = 6;  // ff 15 disp32: call *disp32(%rip)
  std::vector<std::uintptr_t> slots;
  for (const auto& [name, slot] : slots_) {
    if (name == hook) slots.push_back(slot);
  }
  std::vector<std::uint32_t> sites;
  const auto* text = reinterpret_cast<const unsigned char*>(text_.begin);
  const std::size_t size = text_.end - text_.begin;
  for (std::size_t i = 0; i + kCallBytes <= size && !slots.empty(); ++i) {
    if (text[i] != 0xff || text[i + 1] != 0x15) continue;
    std::int32_t displacement;
    std::memcpy(&displacement, text + i + 2, sizeof displacement);
    const std::uintptr_t next = text_.begin + i + kCallBytes;
    if (std::find(slots.begin(), slots.end(), next + static_cast<std::intptr_t>(displacement)) !=
        slots.end()) {
      sites.push_back(offset_of(next));
    }
  }
  return sites;
}

std::optional<std::uint32_t> ElfModule::jump_target(std::uint32_t offset) const {
  constexpr unsigned char kNear = 0xe9, kShort = 0xeb;
  const std::uintptr_t address = image_.begin + offset;
  if (!text_.contains(address, 5)) return std::nullopt;
  const auto* code = reinterpret_cast<const unsigned char*>(address);
  if (code[0] == kShort)
    return offset + 2 + static_cast<std::uint32_t>(static_cast<signed char>(code[1]));
  if (code[0] != kNear) return std::nullopt;
  std::int32_t displacement;
  std::memcpy(&displacement, code + 1, sizeof displacement);
  return offset + 5 + static_cast<std::uint32_t>(displacement);
}

}  // namespace krl::emulator
