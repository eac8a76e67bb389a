#include "plugins/backends/compiled/resource_report.hpp"

#include <charconv>
#include <optional>

namespace krl::compiled {
namespace {

template <class Visit>
void for_each_line(std::string_view text, const Visit& visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    visit(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

// The number that is before `what` in the line.
std::optional<std::int32_t> number_before(std::string_view line, std::string_view what) {
  const std::size_t at = line.find(what);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  std::int32_t number = 0;
  const auto [end, error] = std::from_chars(line.data() + begin, line.data() + at, number);
  if (error != std::errc() || end != line.data() + at) return std::nullopt;
  return number;
}

// "ptxas info    : Compiling entry function 'NAME' for 'sm_90'" -> NAME
std::optional<std::string_view> entry_function(std::string_view line) {
  constexpr std::string_view kBefore = "Compiling entry function '";
  const std::size_t at = line.find(kBefore);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + kBefore.size());
  return rest.substr(0, rest.find('\''));
}

void read_line(std::string_view line, KernelResources& kernel) {
  if (const auto bytes = number_before(line, " bytes stack frame")) kernel.stack_bytes = *bytes;
  if (const auto bytes = number_before(line, " bytes spill stores")) kernel.spill_bytes = *bytes;
  const auto registers = number_before(line, " registers");
  if (!registers) return;
  kernel.registers = *registers;
  kernel.barriers = number_before(line, " barriers").value_or(0);
  kernel.shared_bytes = number_before(line, " bytes smem").value_or(0);
}

// NVRTC puts "ptxas" in front of every line, nvcc not in front of those on a function's stack.
bool has_figures(std::string_view line) {
  return line.starts_with("ptxas info ") || line.starts_with("ptxas  ") ||
         (line.starts_with("    ") && number_before(line, " bytes stack frame"));
}

}  // namespace

SplitLog split_log(std::string_view log) {
  SplitLog split;
  for_each_line(log, [&](std::string_view line) {
    const bool figures = has_figures(line);
    std::string& part = figures ? split.report : split.messages;
    part.append(line).push_back('\n');
  });
  return split;
}

std::map<std::string, KernelResources, std::less<>> read_resource_report(std::string_view report) {
  std::map<std::string, KernelResources, std::less<>> kernels;
  KernelResources* current = nullptr;
  for_each_line(report, [&](std::string_view line) {
    if (const auto name = entry_function(line)) {
      current = &(kernels[std::string(*name)] = {});
    } else if (current != nullptr) {
      read_line(line, *current);
    }
  });
  return kernels;
}

}  // namespace krl::compiled
