#include "service/plugins/validation.hpp"

#include <fmt/format.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <clocale>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/plan/loader.hpp"
#include "core/plugin/library.hpp"
#include "service/plugins/contract.hpp"

namespace krl::service {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGPIPE, SIGHUP};

// The state of the process that belongs to the host.
struct ProcessState {
  std::filesystem::path folder;
  std::string locale;
  std::array<void (*)(int), kSignals.size()> handlers{};
  bool has_children = false;

  static ProcessState now() {
    ProcessState state;
    std::error_code ignored;
    state.folder = std::filesystem::current_path(ignored);
    state.locale = std::setlocale(LC_ALL, nullptr);
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      struct sigaction action {};
      ::sigaction(kSignals[i], nullptr, &action);
      state.handlers[i] = action.sa_handler;
    }
    siginfo_t child{};
    state.has_children = ::waitid(P_ALL, 0, &child, WEXITED | WNOHANG | WNOWAIT) == 0;
    return state;
  }

  Status leads_to(const ProcessState& after) const {
    if (after.folder != folder) return broken("it changed the process's current folder");
    if (after.locale != locale) return broken("it changed the process's locale to " + after.locale);
    if (after.handlers != handlers) return broken("it changed how the process handles signals");
    if (after.has_children) return broken("it left a process behind");
    return {};
  }
};

Status try_rule(const Rule& rule, const Component& component, const Registry& registry,
                const ComponentSettings& settings, std::chrono::seconds limit,
                const char** exempt) {
  std::atomic<bool> stop{true};
  const CallScope scope{nullptr, limit}, cancelled_scope{&stop, limit};
  Components components(registry, scope), others(registry, scope),
      cancelled(registry, cancelled_scope);
  const Subject subject{components, others, cancelled, settings, component};
  *exempt = rule.exempt == nullptr ? nullptr : rule.exempt(subject);
  if (*exempt != nullptr) return {};
  return rule.check(subject);
}

// Tries the rule here, and returns what became of it as JSON.
std::string report_of(const Rule& rule, const Component& component, const Registry& registry,
                      const ComponentSettings& settings, std::chrono::seconds limit) {
  const char* exempt = nullptr;
  const ProcessState before = ProcessState::now();
  Status status = try_rule(rule, component, registry, settings, limit, &exempt);
  if (status) status = before.leads_to(ProcessState::now());
  const nlohmann::json report = {{"outcome", !status  ? RuleResult::kBroken
                                             : exempt ? RuleResult::kExempt
                                                      : RuleResult::kHolds},
                                 {"why", !status  ? status.error().message
                                         : exempt ? exempt
                                                  : ""}};
  return report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string description_of(const ChildEnd& end, std::chrono::seconds limit) {
  if (!end.in_time)
    return fmt::format("it did not return within {} s; raise the limit if it needs longer",
                       limit.count());
  if (WIFSIGNALED(end.status))
    return fmt::format("it crashed: {}", ::strsignal(WTERMSIG(end.status)));
  return fmt::format("it ended the process with exit code {}", WEXITSTATUS(end.status));
}

RuleResult result_of(const Rule& rule, const Result<ChildEnd>& end, std::chrono::seconds limit) {
  RuleResult result{RuleResult::kBroken, rule.name, rule.meaning, {}};
  if (!end) {
    result.why = end.error().message;
  } else if (!end->report) {
    result.why = description_of(*end, limit);
  } else {
    const auto report = nlohmann::json::parse(*end->report);
    result.outcome = report["outcome"].get<RuleResult::Outcome>();
    result.why = report["why"].get<std::string>();
  }
  return result;
}

}  // namespace

Result<std::vector<RuleResult>> validate(const Component& component, const Registry& registry,
                                         const ValidationSettings& settings) {
  KRL_ASSIGN(
      const ComponentSettings configured,
      configure_component(component.kind, component.id, settings.options, registry.catalog()));
  std::vector<RuleResult> results;
  for (const Rule& rule : rules_of(component.kind)) {
    const auto end = run_in_child(
        [&] { return report_of(rule, component, registry, configured, settings.limit); },
        settings.limit);
    results.push_back(result_of(rule, end, settings.limit));
  }
  return results;
}

}  // namespace krl::service
