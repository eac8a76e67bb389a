// NVRTC: CUDA C++ to machine code, in this process. Needs neither torch nor a GPU.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace krl::libtorch {

// A compile-time constant of a kernel source, `-D name=value`.
struct Define {
  std::string name;
  std::int64_t value;
};

// Compiles CUDA C++ to a CUBIN; needs no GPU. `architecture` is such as "sm_90a". Throws
// krl::Failure: KRL_FAILED_PRECONDITION if NVRTC is not installed, KRL_INTERNAL with the compiler's
// log if the source does not compile. Thread-safe.
std::string compile_kernels(std::string_view name, std::string_view source,
                            const std::vector<Define>& defines, const std::string& architecture);

// A name for that CUBIN: a digest of all that it depends on. Errors as compile_kernels.
std::string cubin_name(std::string_view source, const std::vector<Define>& defines,
                       const std::string& architecture);

}  // namespace krl::libtorch
