// The commands of one compile in the container, and their results. Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "plugins/backends/compiled/compiled_module.hpp"

namespace krl::docker {

// Script for /bin/sh -c with the arguments: the processor's seconds and the KiB of address space of
// each program, the architecture, nvcc's further options. Reads the source from its input. Writes
// the parts of a module to its output and the compilers' messages to its errors; ends with the exit
// code of the compiler that failed.
extern const std::string kCompileScript;

// Compiles a source with host code in the same way: its parts are those of a library.
extern const std::string kLibraryScript;

// Assembles PTX in the same way; its parts are those of a module without names.
extern const std::string kAssembleScript;

// Folder of the headers of host code in the container.
inline constexpr const char* kHostHeadersInside = "/usr/local/kernelrl/host";

inline constexpr const char* kNvcc = "/usr/local/cuda/bin/nvcc";

// The source with a reference to each kernel at its end: it makes the compiler instantiate
// templates, and shows in the PTX what each kernel is called there.
std::string with_kernel_references(std::string_view source,
                                   const std::vector<std::string>& kernels);

// Reads the script's output. Empty if the script cannot have written it, or it lacks one of the
// `n_kernels`.
std::optional<compiled::CompiledModule> read_module(std::string_view output, std::size_t n_kernels);
// The same of kLibraryScript.
std::optional<compiled::CompiledModule> read_library(std::string_view output);

}  // namespace krl::docker
