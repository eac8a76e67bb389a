#include "cli/screen/headline.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <span>

#include "core/base/text.hpp"

namespace krl::cli {

namespace {

constexpr std::array<std::string_view, 8> kHeadline = {
    "reward/mean", "kernel/compile_rate", "kernel/pass_rate", "kernel/speedup_capped",
    "sft/loss",    "actor/pg_loss",       "actor/entropy",    "actor/grad_norm"};

constexpr std::array<std::string_view, 4> kHeadlineOfSearch = {
    "found/best_speedup", "kernel/pass_rate", "budget/kernels", "tune/improved"};

constexpr std::array<std::string_view, 4> kLosses = {"infra_errors", "sampler/lost",
                                                     "sampler/refused", "reward/lost"};

}  // namespace

std::vector<std::string> headline(const Metrics& values, std::size_t most) {
  std::vector<std::string> names;
  const auto add = [&](std::span<const std::string_view> list) {
    for (const std::string_view name : list)
      if (values.contains(std::string(name)) && names.size() < most) names.emplace_back(name);
  };
  if (values.contains("budget/kernels")) add(kHeadlineOfSearch);
  if (names.empty()) add(kHeadline);
  if (!names.empty()) return names;
  for (const auto& [name, value] : values)
    if (is_repeatable(name) && names.size() < most) names.push_back(name);
  return names;
}

std::string losses_text(const Metrics& values) {
  std::string text;
  for (const std::string_view name : kLosses) {
    const auto lost = values.find(std::string(name));
    if (lost == values.end() || !(lost->second > 0)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : "  ", name, lost->second);
  }
  return text;
}

std::string best_text(const Metrics& values) {
  const auto mean = values.find("found/best_speedup"), tasks = values.find("found/tasks");
  if (mean == values.end() || tasks == values.end()) return {};
  constexpr std::string_view kBegin = "task/", kEnd = "/best_speedup";
  std::string_view best;
  double speedup = 0;
  for (const auto& [name, value] : values) {
    if (!name.starts_with(kBegin) || !name.ends_with(kEnd) || value <= speedup) continue;
    best = std::string_view(name).substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size());
    speedup = value;
  }
  std::string text = fmt::format("best kernels  {:.2f} times naive, of {} task{}", mean->second,
                                 tasks->second, tasks->second == 1 ? "" : "s");
  if (!best.empty()) text += fmt::format("; {} {:.2f}", best, speedup);
  return text;
}

std::string stopping_text(bool at_once, const StageInfo& stage, const Progress& now) {
  if (at_once) return "stopping now; Ctrl-C again ends the process";
  if (stage.name.empty()) return "stopping after startup; Ctrl-C again stops now";
  const std::string busy =
      now.of > 0 ? fmt::format(" (at {} {}/{})", one_line(now.phase), now.done, now.of) : "";
  return "stopping after this iteration" + busy + "; Ctrl-C again stops now and loses it";
}

std::string number_text(double value) {
  const double size = std::fabs(value);
  const bool plain = size == 0 || (size >= 1e-3 && size < 1e5);
  return plain ? fmt::format("{:.4f}", value) : fmt::format("{:.3e}", value);
}

std::string duration_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long long>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long long>(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace krl::cli
