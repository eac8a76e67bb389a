#include "plugins/backends/ptx/special_registers.hpp"

#include <algorithm>
#include <charconv>

namespace krl::ptx {
namespace {

// Registers with .x, .y, .z and .w.
constexpr std::string_view kTriples[] = {
    "%tid",       "%ntid",       "%ctaid",         "%nctaid",
    "%clusterid", "%nclusterid", "%cluster_ctaid", "%cluster_nctaid",
};

constexpr std::string_view kPlain[] = {
    "%laneid",
    "%warpid",
    "%nwarpid",
    "%smid",
    "%nsmid",
    "%gridid",
    "%is_explicit_cluster",
    "%cluster_ctarank",
    "%cluster_nctarank",
    "%lanemask_eq",
    "%lanemask_le",
    "%lanemask_lt",
    "%lanemask_ge",
    "%lanemask_gt",
    "%clock",
    "%clock_hi",
    "%clock64",
    "%globaltimer",
    "%globaltimer_lo",
    "%globaltimer_hi",
    "%reserved_smem_offset_begin",
    "%reserved_smem_offset_end",
    "%reserved_smem_offset_cap",
    "%total_smem_size",
    "%aggr_smem_size",
    "%dynamic_smem_size",
    "%current_graph_exec",
};

// Registers with a number below this limit.
struct Numbered {
  std::string_view prefix, suffix;
  unsigned count;
};
constexpr Numbered kNumbered[] = {
    {"%envreg", "", 32}, {"%pm", "", 8}, {"%pm", "_64", 8}, {"%reserved_smem_offset_", "", 2}};

template <class List>
bool contains(const List& list, std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

bool is_numbered(std::string_view name, const Numbered& family) {
  if (!name.starts_with(family.prefix) || !name.ends_with(family.suffix)) return false;
  name.remove_prefix(family.prefix.size());
  if (name.size() < family.suffix.size()) return false;
  name.remove_suffix(family.suffix.size());
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool whole = error == std::errc() && end == name.data() + name.size();
  return whole && number < family.count && (name.size() == 1 || name[0] != '0');
}

}  // namespace

bool is_special_register(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (contains(kTriples, name.substr(0, dot))) {
    constexpr std::string_view kComponents[] = {".x", ".y", ".z", ".w"};
    return dot == std::string_view::npos || contains(kComponents, name.substr(dot));
  }
  return contains(kPlain, name) ||
         std::any_of(std::begin(kNumbered), std::end(kNumbered),
                     [&](const Numbered& family) { return is_numbered(name, family); });
}

}  // namespace krl::ptx
