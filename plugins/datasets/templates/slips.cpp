#include "plugins/datasets/templates/slips.hpp"

#include <array>
#include <optional>
#include <string_view>
#include <utility>

namespace krl::templates {
namespace {

using Broken = std::optional<std::string>;

Broken replace_first(const std::string& source, std::string_view from, std::string_view to,
                     std::size_t start = 0) {
  const std::size_t at = source.find(from, start);
  if (at == std::string::npos) return std::nullopt;
  std::string broken = source;
  return broken.replace(at, from.size(), to);
}

// Returns where the code begins, after the directives.
std::size_t code_start(const std::string& source) { return source.find("__global__"); }

// The line around `at`, which does not count if it is npos.
Broken without_line(const std::string& source, std::size_t at) {
  if (at == std::string::npos) return std::nullopt;
  const std::size_t line = source.rfind('\n', at) + 1;
  std::string broken = source;
  return broken.erase(line, source.find('\n', at) + 1 - line);
}

// Threads beyond the end continue.
Broken missing_bound_check(const std::string& source, bool) {
  const bool exact_grid =
      source.find("blockIdx.x * 1 + ") != std::string::npos;  // a warp a row, one warp a block
  if (auto broken = without_line(source, source.find(") return;")); broken && !exact_grid)
    return broken;
  for (std::size_t at = source.find("  if ("); at != std::string::npos;
       at = source.find("  if (", at + 1)) {
    const std::size_t close = source.find(") ", at);
    const std::string guard = source.substr(at, close - at);
    const std::string guarded = source.substr(close, source.find('\n', close) - close);
    const bool of_index =
        guard.find(" < ") != std::string::npos && guard.find("threadIdx") == std::string::npos;
    if (of_index && guarded.find("] = ") != std::string::npos)
      return source.substr(0, at + 2) + source.substr(close + 2);
  }
  return std::nullopt;
}

// The index leaves out the block: every block does the first one's work.
Broken wrong_index(const std::string& source, bool several_blocks) {
  if (!several_blocks) return std::nullopt;
  return replace_first(source, "blockIdx.x * blockDim.x + threadIdx.x", "threadIdx.x",
                       code_start(source));
}

Broken missing_barrier(const std::string& source, bool) {
  return without_line(source, source.find("__syncthreads();"));
}

Broken wrong_operator(const std::string& source, bool) {
  const std::size_t start = source.find('{', code_start(source));
  const bool runs_twice =
      // With scratch, two wrong signs may make a right one.
      source.find("@scratch") != std::string::npos;
  for (const auto& [from, to] : {std::pair("fmaxf(", "fminf("), std::pair("acc += ", "acc -= "),
                                 std::pair("m1 += ", "m1 -= "), std::pair("m0 += ", "m0 -= "),
                                 std::pair("] + ", "] - "), std::pair("] - ", "] + ")}) {
    auto broken = replace_first(source, from, to, start);
    if (broken && !runs_twice) return broken;
  }
  return std::nullopt;
}

// A variable is declared under another name than it is used by.
Broken undeclared_name(const std::string& source, bool) {
  const std::size_t start = source.find('{', code_start(source));
  for (const auto& [from, to] :
       {std::pair("float acc = ", "float sum = "), std::pair("float m0 = ", "float top = "),
        std::pair("int r = ", "int row = "), std::pair("  int i = ", "  int id = "),
        std::pair("  int idx = ", "  int id = "), std::pair("  int gid = ", "  int id = "),
        std::pair("  int e = ", "  int id = "), std::pair("(int j = ", "(int k1 = "),
        std::pair("(int i = ", "(int k1 = "), std::pair("(int idx = ", "(int k1 = "),
        std::pair("(int gid = ", "(int k1 = "), std::pair("(int e = ", "(int k1 = ")}) {
    if (auto broken = replace_first(source, from, to, start)) return broken;
  }
  return std::nullopt;
}

// The last argument of the first launch is left out.
Broken missing_argument(const std::string& source, bool) {
  const std::size_t end = source.find(")\n");
  const std::size_t comma = source.rfind(", ", end);
  if (end == std::string::npos || comma == std::string::npos || source.rfind(">>>(", end) > comma)
    return std::nullopt;
  std::string broken = source;
  return broken.erase(comma, end - comma);
}

Broken missing_semicolon(const std::string& source, bool) {
  return replace_first(source, ";\n", "\n", code_start(source));
}

struct Maker {
  std::string_view name;
  Broken (*apply)(const std::string&, bool several_blocks);
};
constexpr std::array<Maker, 7> kMakers = {{{"missing_bound_check", missing_bound_check},
                                           {"wrong_index", wrong_index},
                                           {"missing_barrier", missing_barrier},
                                           {"wrong_operator", wrong_operator},
                                           {"undeclared_name", undeclared_name},
                                           {"missing_argument", missing_argument},
                                           {"missing_semicolon", missing_semicolon}}};

}  // namespace

std::vector<Slip> possible_slips(const std::string& source, bool several_blocks) {
  std::vector<Slip> slips;
  for (const Maker& maker : kMakers) {
    if (auto broken = maker.apply(source, several_blocks))
      slips.push_back({std::string(maker.name), *std::move(broken)});
  }
  return slips;
}

std::vector<Slip> slips_of_syntax(const std::string& source) {
  std::vector<Slip> slips;
  if (auto broken = missing_argument(source, false))
    slips.push_back({"missing_argument", *std::move(broken)});
  if (auto broken = missing_semicolon(source, false))
    slips.push_back({"missing_semicolon", *std::move(broken)});
  return slips;
}

std::vector<std::string> slip_names() {
  std::vector<std::string> names;
  for (const Maker& maker : kMakers) names.emplace_back(maker.name);
  return names;
}

}  // namespace krl::templates
