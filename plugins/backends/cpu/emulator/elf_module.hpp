// A compiled candidate in memory: mapped, relocated and bound to the emulator's hooks, and to
// nothing else.
//
// Not dlopen: the emulator is a static program, a module may bind only to what the contract names,
// and the exact bounds of the module's text and variables are what the access checks rest on. One
// thread. The module stays mapped until the object is destroyed; no code of it may run after that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/cpu/shim/krl/hooks.h"

namespace krl::emulator {

// Half-open range of addresses of this process.
struct AddressRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  bool contains(std::uintptr_t address, std::size_t size) const {
    return address >= begin && address <= end && size <= end - address;
  }
};

// A __shared__ variable. All of a module lie in one image, at the same place in every block.
struct SharedVariable {
  std::string name;      // as the candidate wrote it
  std::string function;  // mangled name of the function it belongs to; empty at namespace scope
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

class ElfModule {
 public:
  // What the address of a symbol is; null if the emulator does not have it.
  using Resolver = void* (*)(std::string_view name);

  // Maps the module in `bytes` and binds it. On failure null, and `why` says what the module wants
  // that it may not have.
  static std::unique_ptr<ElfModule> load(std::string_view bytes, Resolver resolve,
                                         std::string& why);
  ~ElfModule();
  ElfModule(const ElfModule&) = delete;
  ElfModule& operator=(const ElfModule&) = delete;

  // The record that KRL_KERNEL(index, …) exported; null if there is none.
  const krl_kernel_record* kernel(std::size_t index) const;

  // Calls the module's constructors, the candidate's dynamic initialisers among them.
  void run_constructors() const;

  // Variables (__device__, __constant__): stores allowed. Constants of the compiler: loads only.
  // Text.
  AddressRange variables() const { return variables_; }
  AddressRange constants() const { return constants_; }
  AddressRange image() const { return image_; }

  // Keeps the variables' present values, and puts them back.
  void take_snapshot();
  void restore_snapshot();

  // Bytes of static shared memory of all kernels together; `extern __shared__` begins behind them,
  // 16-byte aligned.
  std::uint32_t shared_bytes() const { return shared_bytes_; }
  // Bytes of static shared memory that kernel `index` can reach: its own, and those of functions
  // that are no kernels.
  std::uint32_t shared_bytes_of_kernel(std::size_t index) const;
  const std::vector<SharedVariable>& shared_variables() const { return shared_variables_; }

  // Offset of `address` in the module, as in its ELF file.
  std::uint32_t offset_of(std::uintptr_t address) const {
    return static_cast<std::uint32_t>(address - image_.begin);
  }
  std::string_view bytes() const { return bytes_; }

  // Every call of `hook` in the text, as return offsets in ascending order: a call goes through the
  // hook's slot in the global offset table, so its bytes tell which hook it calls.
  std::vector<std::uint32_t> call_sites(std::string_view hook) const;
  // Where the jump instruction at this offset leads; nothing if there is none.
  std::optional<std::uint32_t> jump_target(std::uint32_t offset) const;
  AddressRange text() const { return text_; }

 private:
  ElfModule() = default;
  class Loader;

  AddressRange image_, text_, constants_, variables_;
  std::string bytes_;
  std::vector<std::byte> snapshot_;
  std::vector<const krl_kernel_record*> kernels_;
  std::vector<std::string> kernel_functions_;  // mangled
  std::vector<void (*)()> constructors_;
  std::vector<std::pair<std::string, std::uintptr_t>> slots_;  // of the global offset table
  std::vector<SharedVariable> shared_variables_;
  std::uint32_t shared_bytes_ = 0;
};

}  // namespace krl::emulator
