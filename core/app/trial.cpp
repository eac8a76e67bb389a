#include "core/app/trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "core/app/trial_task.hpp"
#include "core/base/clock.hpp"
#include "core/learn/setup.hpp"
#include "core/plan/loader.hpp"
#include "core/plugin/crash.hpp"

namespace krl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kReapPause{5};
constexpr std::chrono::seconds kReapLimit{2};  // a process whose driver hangs cannot be killed

std::string required_options(const Component& component) {
  std::string names;
  for (const KeyRule& key : component.keys) {
    if (key.required) names += (names.empty() ? "" : ", ") + key.key;
  }
  return names;
}

std::string about(const BackendInfo& info) { return info.toolchain + ", " + info.device; }

std::string about(const PolicyInfo& info) {
  std::string text = info.description.empty() ? "" : info.description + "; ";
  text += info.trainable ? "can be trained" : "cannot be trained";
  if (info.context_tokens > 0) {
    text += ", " + std::to_string(info.context_tokens) + " tokens of context";
  }
  return text;
}

Result<Findings> question(const Policy& policy, const PolicyInfo& info, Components& components,
                          const TrialSettings& trial) {
  ProbeSettings settings;
  settings.answers = info.needs_corpus ? 0 : trial.answers;
  std::optional<Policy> truth;
  if (!trial.model.empty()) {
    KRL_ASSIGN(
        const ComponentSettings of_model,
        configure_component(Kind::kPolicy, "libtorch", {"model.directory=\"" + trial.model + "\""},
                            components.registry().catalog()));
    KRL_ASSIGN(truth, components.create<Policy>(of_model));
    settings.truth = &*truth;
  }
  return probe(policy, info, settings);
}

Result<Trial> try_policy(const ComponentSettings& settings, Components& components,
                         const TrialSettings& trial) {
  KRL_ASSIGN(const Policy policy, components.create<Policy>(settings));
  KRL_ASSIGN(const PolicyInfo info, policy.describe());
  KRL_ASSIGN(Findings findings, question(policy, info, components, trial));
  return Trial{Trial::kWorks, about(info), std::move(findings)};
}

// A backend that starts may still lack what it judges with, so it has to judge.
Result<Trial> try_backend(const ComponentSettings& settings, Components& components) {
  KRL_ASSIGN(const Backend* backend, components.backend(settings));
  KRL_ASSIGN(const BackendInfo info, backend->describe());
  const Stopwatch watch;
  KRL_TRY(backend->prepare({"doctor", "Doubling", "out[i] = 2 * x[i]", 0, kTrialTask}, {}));
  return Trial{Trial::kWorks,
               about(info),
               {{"judged", fmt::format("a small task in {:.1f} s", watch.seconds())}}};
}

Result<Trial> try_dataset(const ComponentSettings& settings, Components& components) {
  KRL_ASSIGN(const Dataset dataset, components.create<Dataset>(settings));
  KRL_ASSIGN(const DatasetItems items, dataset.read_all());
  return Trial{Trial::kWorks,
               std::to_string(items.tasks.size()) + " tasks, " +
                   std::to_string(items.pairs.size()) + " pairs",
               {}};
}

Result<Trial> try_reward(const ComponentSettings& settings, Components& components) {
  KRL_ASSIGN(const Reward reward, components.create<Reward>(settings));
  const std::uint32_t needs = reward.component().needs();
  return Trial{Trial::kWorks, needs == 0 ? "needs no signal" : "needs " + signal_names(needs), {}};
}

// Starts it here, and ends it again.
Result<Trial> start(const Component& component, const Registry& registry,
                    const TrialSettings& trial) {
  KRL_ASSIGN(const ComponentSettings settings,
             configure_component(component.kind, component.id, trial.options, registry.catalog()));
  const CallScope scope;
  Components components(registry, scope);
  switch (component.kind) {
    case Kind::kPolicy:
      return try_policy(settings, components, trial);
    case Kind::kBackend:
      return try_backend(settings, components);
    case Kind::kDataset:
      return try_dataset(settings, components);
    case Kind::kReward:
      break;
  }
  return try_reward(settings, components);
}

// The component is named beside the text: "backend 'x' (create): why" says so twice.
std::string without_component(const std::string& message, const Component& component) {
  const std::string named = std::string(name_of(component.kind)) + " '" + component.id + "' (";
  constexpr std::string_view kEnd = "): ";
  const std::size_t end = message.find(kEnd);
  if (!message.starts_with(named) || end == std::string::npos) return message;
  return message.substr(end + kEnd.size());
}

// The whole life of the child: a report into `report`. What plugins print is nobody's business.
[[noreturn]] void be_the_child(const Component& component, const Registry& registry,
                               const TrialSettings& settings, int report) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // as it is in no terminal's group now
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {0, 1, 2}) ::dup2(nowhere, stream);
  stop_reporting_crashes();  // they are the trial's result
  const Result<Trial> started = start(component, registry, settings);
  nlohmann::json trial = {{"works", started.has_value()}};
  trial["text"] = started ? started->text : without_component(started.error().message, component);
  if (started) trial["findings"] = started->findings;
  const std::string text = trial.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  const bool written = ::write(report, text.data(), text.size()) == std::ssize(text);
  ::_exit(written ? 0 : 1);
}

// What the child writes until its end; nothing if the limit comes first.
std::optional<std::string> read_report(int report, Clock::time_point deadline) {
  std::string text;
  while (true) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    if (left.count() <= 0) return std::nullopt;
    pollfd ready{report, POLLIN, 0};
    const int polled = ::poll(&ready, 1, static_cast<int>(left.count()));
    if (polled < 0 && errno != EINTR) return std::nullopt;
    if (polled <= 0) continue;
    char chunk[4096];
    const ssize_t n = ::read(report, chunk, sizeof chunk);
    if (n == 0) return text;
    if (n > 0) text.append(chunk, static_cast<std::size_t>(n));
  }
}

// Kills what is left of the child and of all that it started. Its status, as it ended; 0 if it
// cannot even be killed.
int end(pid_t child) {
  const auto deadline = Clock::now() + kReapLimit;
  int status = 0;
  ::kill(-child, SIGKILL);
  while (::waitpid(child, &status, WNOHANG) == 0 && Clock::now() < deadline) {
    std::this_thread::sleep_for(kReapPause);
  }
  return status;
}

Trial trial_of(const std::optional<std::string>& report, int status, std::chrono::seconds limit) {
  if (!report) {
    return {Trial::kFails,
            "is not done within " + std::to_string(limit.count()) +
                " s; if it only needs longer, give it more by --limit",
            {}};
  }
  if (report->empty()) {
    const std::string how = WIFSIGNALED(status) ? ::strsignal(WTERMSIG(status)) : "it just ended";
    return {Trial::kFails, "its process died when it was started: " + how, {}};
  }
  const auto trial = nlohmann::json::parse(*report, nullptr, /*allow_exceptions=*/false);
  if (!trial.is_object())
    return {Trial::kFails, "its process died in the middle of its report", {}};
  return {trial["works"].get<bool>() ? Trial::kWorks : Trial::kFails, trial["text"],
          trial.value("findings", Findings())};
}

}  // namespace

Trial try_component(const Component& component, const Registry& registry,
                    const TrialSettings& settings) {
  if (std::string names = required_options(component); !names.empty() && settings.options.empty()) {
    return {Trial::kNeedsOptions, std::move(names), {}};
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return {Trial::kFails, std::strerror(errno), {}};
  const auto deadline = Clock::now() + settings.limit;
  const pid_t child = ::fork();
  if (child == 0) be_the_child(component, registry, settings, ends[1]);
  ::close(ends[1]);
  Trial trial{Trial::kFails, std::strerror(errno), {}};
  if (child > 0) {
    ::setpgid(child, child);  // whichever of the two is first
    const std::optional<std::string> report = read_report(ends[0], deadline);
    trial = trial_of(report, end(child), settings.limit);
  }
  ::close(ends[0]);
  return trial;
}

}  // namespace krl
