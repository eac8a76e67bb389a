// Compiled kernels on disk, so that a policy need not compile them at its next start. Thread-safe,
// also between processes.
#pragma once

#include "plugins/policies/libtorch/cuda/kernel_compiler.hpp"

namespace krl::libtorch {

// Returns the result of compile_kernels() for the same arguments: from the cache folder
// ($KERNELRL_CACHE_DIR, else $XDG_CACHE_HOME/kernelrl, else ~/.cache/kernelrl) or, if there is none
// or it is damaged, compiled and put there. If the folder cannot be written, the next start only
// has to compile again. Errors as compile_kernels().
std::string cached_cubin(std::string_view name, std::string_view source,
                         const std::vector<Define>& defines, const std::string& architecture);

}  // namespace krl::libtorch
