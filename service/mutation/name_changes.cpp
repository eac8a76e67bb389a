// The wrong one of several names that fit: axes, sizes, indices, orders of memory.
#include <set>

#include "service/mutation/change.hpp"

namespace krl::service {
namespace {

constexpr Swap kWrongNames[] = {{"index_swapped", "threadIdx", "blockIdx"},
                                {"index_swapped", "blockIdx", "threadIdx"},
                                {"index_swapped", "blockDim", "gridDim"},
                                {"index_swapped", "gridDim", "blockDim"},
                                {"fence_weakened", "memory_order_acquire", "memory_order_relaxed"},
                                {"fence_weakened", "memory_order_release", "memory_order_relaxed"},
                                {"fence_weakened", "memory_order_acq_rel", "memory_order_relaxed"},
                                {"fence_weakened", "memory_order_acq_rel", "memory_order_release"},
                                {"scope_narrowed", "thread_scope_device", "thread_scope_block"},
                                {"volatile_dropped", "volatile", ""}};
constexpr std::string_view kMembers[] = {"x", "y", "z", "w"};

bool is_built_in(const CodeToken& token) {
  return token.is_any({"threadIdx", "blockIdx", "blockDim", "gridDim"});
}

// `v.x` as `v.y`, which is the other half of a vector, or the other axis of the grid.
void swap_members(const CodeText& code, std::size_t index, Changes& changes) {
  if (index < 2 || !code.at(index - 1).is(".")) return;
  for (std::size_t m = 0; m < 4; ++m) {
    if (!code.at(index).is(kMembers[m])) continue;
    const bool axis = is_built_in(code.at(index - 2));
    const std::string_view other = kMembers[axis ? (m == 0 ? 1 : 0) : (m ^ 1)];
    changes.push_back(
        {axis ? "axis_swapped" : "member_swapped", code.at(index).offset, 1, std::string(other)});
  }
}

std::vector<std::string> sizes_of(const KernelHead& kernel) {
  std::vector<std::string> sizes;
  for (const KernelParameter& parameter : kernel.parameters) {
    const bool integer = parameter.type.find("int") != std::string::npos ||
                         parameter.type.find("long") != std::string::npos ||
                         parameter.type.find("size_t") != std::string::npos;
    if (integer && !parameter.is_pointer && !parameter.name.empty())
      sizes.push_back(parameter.name);
  }
  return sizes;
}

std::vector<std::string> pointers_of(const KernelHead& kernel) {
  std::vector<std::string> pointers;
  for (const KernelParameter& parameter : kernel.parameters) {
    if (parameter.is_pointer && parameter.type.find("const") != std::string::npos)
      pointers.push_back(parameter.name);
  }
  return pointers;
}

// Each use of one of the names as each other one.
void swap_names(const CodeText& code, std::vector<std::string> names, std::string_view kind,
                Changes& changes) {
  for (std::size_t i = 1; i < code.size(); ++i) {
    const CodeToken& token = code.at(i);
    const bool declared = is_type_name(code.at(i - 1).text) ||
                          code.at(i - 1).is_any({"*", "__restrict__"}) ||
                          code.at(i - 1).is_any({".", "->"});
    if (!token.is_name() || declared) continue;
    for (const std::string& name : names) {
      if (!token.is(name)) continue;
      for (const std::string& other : names) {
        if (other != name) changes.push_back({kind, token.offset, name.size(), other});
      }
    }
  }
}

void shift_index(const CodeText& code, std::size_t index, Changes& changes) {
  if (!code.at(index).is("[") || index == 0 || !code.at(index - 1).is_name()) return;
  const std::size_t close = code.partner(index);
  if (close == CodeText::kNone || close <= index + 1) return;
  if (index > 1 && is_type_name(code.at(index - 2).text)) return;  // a declaration
  const std::string inside(code.text_of(index + 1, close - 1));
  const std::size_t begin = code.at(index + 1).offset;
  for (const char* shift : {" + 1", " - 1", " ^ 1"})
    changes.push_back({"index_shifted", begin, inside.size(), "(" + inside + ")" + shift});
}

}  // namespace

void collect_names(const CodeText& code, Changes& changes) {
  for (std::size_t i = 0; i < code.size(); ++i) {
    collect_swaps(code.at(i), kWrongNames, changes);
    swap_members(code, i, changes);
    shift_index(code, i, changes);
  }
  for (const KernelHead& kernel : find_kernels(code.scanned())) {
    swap_names(code, sizes_of(kernel), "size_swapped", changes);
    swap_names(code, pointers_of(kernel), "input_swapped", changes);
  }
}

}  // namespace krl::service
