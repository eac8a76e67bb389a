#include "plugins/backends/cpu/plugin/result_checks.hpp"

#include <algorithm>

namespace krl::cpu {
namespace {

constexpr std::size_t kMostMessageBytes = 1000;

// Checks the launches of one run.
std::string inconsistency(const Run& run, const std::vector<LaunchReport>& reports) {
  if (reports.size() != run.launches.size()) return "a run differs from the plan in its launches";
  for (std::size_t l = 0; l < reports.size(); ++l) {
    const Launch& planned = run.launches[l];
    if (reports[l].kernel != planned.kernel || reports[l].grid != planned.grid ||
        reports[l].block != planned.block) {
      return "a launch differs from the plan";
    }
  }
  return {};
}

bool is_of(const Job& job, const Unwritten& unwritten) {
  const std::vector<Buffer>& buffers = job.runs[unwritten.run].buffers;
  if (unwritten.buffer >= buffers.size()) return false;
  const Buffer& buffer = buffers[unwritten.buffer];
  const std::uint64_t elements = buffer.bytes / buffer.element_size;
  return buffer.role == Role::kOutput && unwritten.first < elements && unwritten.count > 0 &&
         unwritten.count <= elements - unwritten.first;
}

// Checks where the job ended early: it must be the first run that is not among the finished ones.
std::string misplaced(const Job& job, std::size_t finished, std::uint32_t run,
                      std::uint32_t launch) {
  if (run != finished || run >= job.runs.size()) return "it ended in a run that it did not reach";
  const std::size_t launches = job.runs[run].launches.size();
  return launch < launches ? "" : "it ended in a launch that does not exist";
}

std::string with_names(std::string text, const std::vector<std::string>& mangled,
                       const std::vector<std::string>& names) {
  for (std::size_t k = 0; k < mangled.size(); ++k) {
    if (mangled[k].empty() || mangled[k] == names[k]) continue;
    for (std::size_t at = 0; (at = text.find(mangled[k], at)) != std::string::npos;) {
      text.replace(at, mangled[k].size(), names[k]);
      at += names[k].size();
    }
  }
  return text;
}

std::string cut(std::string text) {
  if (text.size() <= kMostMessageBytes) return text;
  std::size_t end = kMostMessageBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::string inconsistency(const Job& job, const Result& result) {
  const std::size_t finished = result.runs.size();
  if (finished > job.runs.size()) return "more runs than were planned";
  if (!result.kernels.empty() && result.kernels.size() != job.kernels.size()) {
    return "kernels other than those requested";
  }
  for (std::size_t r = 0; r < finished; ++r) {
    std::string wrong = inconsistency(job.runs[r], result.runs[r]);
    if (!wrong.empty()) return wrong;
  }
  const auto unfinished = [&](const Encounter& met) { return met.run >= finished; };
  if (std::any_of(result.encounters.begin(), result.encounters.end(), unfinished)) {
    return "warps met in a run that did not end";
  }
  const auto is_early = [&](const Unset& unset) { return unset.run >= finished; };
  if (std::any_of(result.unset.begin(), result.unset.end(), is_early)) {
    return "unset values in a run that did not end";
  }
  if (std::max(result.encounters.size(), result.unset.size()) > finished * kMostEncounters) {
    return "more encounters than runs may have";
  }
  for (const Unwritten& unwritten : result.unwritten) {
    if (unwritten.run >= finished || !is_of(job, unwritten)) {
      return "elements that the outputs of no run have";
    }
  }
  if (result.fault && result.launch_error) return "both a fault and a launch error";
  if (result.fault) return misplaced(job, finished, result.fault->run, result.fault->launch);
  if (result.launch_error) {
    return misplaced(job, finished, result.launch_error->run, result.launch_error->launch);
  }
  return finished == job.runs.size() ? "" : "runs are missing, without a reason";
}

void name_for_people(const std::vector<std::string>& mangled, const std::vector<std::string>& names,
                     Result* result) {
  const auto readable = [&](std::string& text) { text = cut(with_names(text, mangled, names)); };
  for (KernelFacts& kernel : result->kernels) readable(kernel.name);
  for (Encounter& encounter : result->encounters) readable(encounter.place);
  for (Unset& unset : result->unset) readable(unset.what);
  if (result->fault) {
    readable(result->fault->message);
    readable(result->fault->kernel);
  }
  if (result->launch_error) readable(result->launch_error->message);
}

}  // namespace krl::cpu
