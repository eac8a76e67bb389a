#include "plugins/backends/compiled/kernel_references.hpp"

#include <charconv>

namespace krl::compiled {
namespace {

constexpr std::string_view kReference = "kernelrl_kernel_";

// Reads ".global .align 8 .u64 kernelrl_kernel_0 = _Z3addPf;" into `names`; false if the line is
// something else.
bool take_reference(std::string_view line, std::vector<std::string>& names) {
  const std::size_t at = line.find(kReference);
  if (at == std::string_view::npos || line.find(".global ") > at) return false;
  line.remove_prefix(at + kReference.size());
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), index);
  if (error != std::errc() || index >= names.size()) return false;
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  constexpr std::string_view kEquals = " = ";
  if (!line.starts_with(kEquals)) return false;
  line.remove_prefix(kEquals.size());
  names[index] = line.substr(0, line.find(';'));
  return true;
}

}  // namespace

std::string with_kernel_references(std::string_view source,
                                   const std::vector<std::string>& kernels) {
  std::string text(source);
  text += "\n#line 1 \"launches\"\n";
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    text.append("extern \"C\" __device__ const void* ").append(kReference);
    text.append(std::to_string(k)).append(" = (const void*)(").append(kernels[k]).append(");\n");
  }
  return text;
}

DereferencedPtx take_kernel_references(std::string_view ptx, std::size_t n_kernels) {
  DereferencedPtx result;
  result.names.resize(n_kernels);
  while (!ptx.empty()) {
    const std::string_view line = ptx.substr(0, ptx.find('\n'));
    if (!take_reference(line, result.names)) result.ptx.append(line).push_back('\n');
    ptx.remove_prefix(std::min(ptx.size(), line.size() + 1));
  }
  return result;
}

}  // namespace krl::compiled
