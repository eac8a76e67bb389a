// A compiler whose kernels are those of simulated_candidates.cpp, whatever the source says.
#pragma once

#include <elf.h>

#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"
#include "plugins/backends/elf/elf_view.hpp"
#include "plugins/backends/evaluator/compile/cuda_compiler.hpp"
#include "plugins/files/file.hpp"

namespace krl::testing {
using namespace compiled;
using namespace cuda;

// A sized entry of a CUBIN's .nv.info: see cubin.cpp.
inline std::string cubin_entry(std::uint32_t attribute, const std::vector<std::uint32_t>& words) {
  const auto size = static_cast<std::uint32_t>(words.size() * sizeof words[0]);
  const std::uint32_t head = 4 | attribute << 8 | size << 16;
  return std::string(reinterpret_cast<const char*>(&head), sizeof head) +
         std::string(reinterpret_cast<const char*>(words.data()), size);
}

// The shared object as code of a GPU: with the sections that tell its kernels, their registers and
// their parameters (const float*, float*, int), and without its own.
inline std::string simulated_cubin(const std::vector<std::string>& kernels) {
  constexpr std::uint32_t kParameter = 0x17, kRegisterCount = 0x2f;
  std::string bytes = files::read_file_or_empty(KERNELRL_SIMULATED_FOLDER "/candidates.so");
  std::vector<Elf64_Shdr> sections(1);
  std::string names(1, '\0');
  const auto add = [&](const std::string& name, const std::string& content) {
    Elf64_Shdr& section = sections.emplace_back();
    section.sh_name = static_cast<Elf64_Word>(names.size());
    section.sh_type = SHT_PROGBITS;
    section.sh_offset = bytes.size();
    section.sh_size = content.size();
    bytes += content;
    names += name + '\0';
  };
  std::string registers, symbols(sizeof(Elf64_Sym), '\0'), symbol_names(1, '\0');
  for (std::uint32_t k = 0; k < kernels.size(); ++k) {
    Elf64_Sym symbol{};
    symbol.st_name = static_cast<Elf64_Word>(symbol_names.size());
    symbols.append(reinterpret_cast<const char*>(&symbol), sizeof symbol);
    symbol_names += kernels[k] + '\0';
    registers += cubin_entry(kRegisterCount, {k + 1, 32});
    add(".text." + kernels[k], "");
    add(".nv.info." + kernels[k], cubin_entry(kParameter, {0, 0 | 0 << 16, 8 << 18}) +
                                      cubin_entry(kParameter, {0, 1 | 8 << 16, 8 << 18}) +
                                      cubin_entry(kParameter, {0, 2 | 16 << 16, 4 << 18}));
  }
  add(".nv.info", registers);
  add(".symtab", symbols);
  add(".strtab", symbol_names);
  add(".shstrtab", names);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  header.e_machine = elf::kElfMachineCuda;
  header.e_shoff = bytes.size();
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  std::memcpy(bytes.data(), &header, sizeof header);
  bytes.append(reinterpret_cast<const char*>(sections.data()),
               sections.size() * sizeof(Elf64_Shdr));
  return bytes;
}

inline CompileOutput compiled_to(const CompiledModule& module) {
  CompileOutput output;
  output.end = CompileOutput::kCompiled;
  output.module = to_bytes(module);
  return output;
}

inline CudaCompiler simulated_compiler() {
  CudaCompiler compiler;
  compiler.name = "g++";
  compiler.arch = "sm_90";
  compiler.compile = [](std::string_view, const std::vector<std::string>& kernels,
                        const Cancelled&) {
    std::string ptx = ".version 8.8\n.target sm_90\n.address_size 64\n";
    for (const std::string& kernel : kernels) ptx += ".visible .entry " + kernel + "() { ret; }\n";
    return compiled_to({simulated_cubin(kernels), ptx, "", kernels});
  };
  return compiler;
}

}  // namespace krl::testing
