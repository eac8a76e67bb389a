// Compiled kernels on disk, so that a policy need not compile them at its next start. Thread-safe,
// also between processes.
#pragma once

#include "plugins/policies/libtorch/cuda/kernel_compiler.hpp"

namespace krl::libtorch {

// What compile_kernels() makes of the same arguments: from the cache folder ($KERNELRL_CACHE_DIR,
// else $XDG_CACHE_HOME/kernelrl, else ~/.cache/kernelrl) or, where there is none or it is damaged,
// compiled and put there. A folder that cannot be written costs the next start its compile and
// nothing else. Errors as compile_kernels().
std::string cached_cubin(std::string_view name, std::string_view source,
                         const std::vector<Define>& defines, const std::string& architecture);

}  // namespace krl::libtorch
