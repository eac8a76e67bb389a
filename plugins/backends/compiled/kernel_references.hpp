// Gets the mangled names of kernels from nvcc, which, unlike NVRTC, has no API for them: references
// at the end of the source make it instantiate templates, and show each kernel's name in the PTX.
// They have to be removed before ptxas sees them, because it gives more registers to kernels whose
// address is taken. Pure; the PTX is untrusted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace krl::compiled {

// `kernels`: as launches name them, "scale<float, 4>". Errors in them are of no line of the source.
std::string with_kernel_references(std::string_view source,
                                   const std::vector<std::string>& kernels);

struct DereferencedPtx {
  std::string ptx;                 // PTX without the references
  std::vector<std::string> names;  // mangled, by the kernel's index; empty if there is none
};

DereferencedPtx take_kernel_references(std::string_view ptx, std::size_t n_kernels);

}  // namespace krl::compiled
