#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/measurement_report.hpp"
#include "cli/plan_run.hpp"
#include "cli/policy_options.hpp"
#include "cli/stop_signals.hpp"
#include "core/base/file_system.hpp"
#include "core/plugin/session.hpp"
#include "service/plans/policy_evaluation.hpp"

namespace krl::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kMostSamples = 4096;

// Parses "1,4,16"; empty for any other text. 1 is always included.
std::vector<std::size_t> ks_in(std::string_view text, std::size_t most) {
  std::vector<std::size_t> ks = {1};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const auto k = number_in<std::size_t>(text.substr(begin, end - begin));
    if (!k || *k < 1 || *k > most) return {};
    ks.push_back(*k);
    begin = end + 1;
  }
  std::sort(ks.begin(), ks.end());
  ks.erase(std::unique(ks.begin(), ks.end()), ks.end());
  return ks;
}

Result<PolicyEvaluationOptions> options_of(const CommandLine& line) {
  PolicyEvaluationOptions options;
  if (line.has("samples")) {
    const auto samples = number_in<std::int64_t>(line.text("samples"));
    if (!samples || *samples < 1 || *samples > kMostSamples) {
      return invalid(fmt::format("--samples takes a number from 1 to {}, not '{}'", kMostSamples,
                                 line.text("samples")));
    }
    options.samples = *samples;
  }
  const auto most = static_cast<std::size_t>(options.samples);
  options.ks = line.has("k") ? ks_in(line.text("k"), most) : default_ks(options.samples);
  if (options.ks.empty()) {
    return invalid(fmt::format("--k takes numbers from 1 to --samples, {}, such as 1,4, not '{}'",
                               most, line.text("k")));
  }
  const std::string tasks = line.text_or("tasks", "all");
  if (tasks != "all" && tasks != "train" && tasks != "holdout")
    return invalid("--tasks takes train, holdout or all, not '" + tasks + "'");
  options.train = tasks != "holdout";
  options.holdout = tasks != "train";
  return options;
}

// One line on the error stream, if that is a terminal.
class ProgressLine {
 public:
  void clear() const {
    if (shown_) print_error("\r\033[K");
  }
  void show(std::string_view set, std::string_view phase, int done, int of) {
    if (!terminal_) return;
    print_error(fmt::format("\r\033[K{}: {} {}/{}", set, phase, done, of));
    shown_ = true;
  }

 private:
  const bool terminal_ = ::isatty(STDERR_FILENO) == 1;
  bool shown_ = false;
};

std::string describe(const ChosenPolicy& chosen, const PolicyEvaluationOptions& options,
                     const PolicyEvaluation& results) {
  const Settings& settings = chosen.settings();
  const std::string stage = chosen.stage_name();
  std::string text = fmt::format(
      "policy {}, {}; {}backend {} ({})\n{} episode{} per task, {} turn{}, temperature {}, "
      "seed {}\n",
      chosen.plan().policy.use,
      chosen.checkpoint ? chosen.checkpoint->directory.string() : "as the plan describes it",
      stage.empty() ? "" : "stage " + stage + ", ", settings.backend.use, results.backend.device,
      options.samples, options.samples == 1 ? "" : "s", settings.rollout.turns,
      settings.rollout.turns == 1 ? "" : "s", settings.rollout.temperature, chosen.plan().run.seed);
  for (const Measurement& set : results.sets) text += "\n" + describe_measurement(set);
  return text;
}

int finish(const CommandLine& line, const ChosenPolicy& chosen,
           const PolicyEvaluationOptions& options, const PolicyEvaluation& results) {
  const std::string object =
      to_json(chosen, options, results).dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  for (const auto& [option, text] : {std::pair("output", &object), {"answers", &results.answers}}) {
    if (!line.has(option)) continue;
    const Status written = write_atomically(real_file_system(), line.text(option), *text);
    if (!written) return report(written.error());
  }
  print(line.has("json") ? object : describe(chosen, options, results));
  const bool any = std::any_of(results.sets.begin(), results.sets.end(),
                               [](const Measurement& set) { return !set.tasks.empty(); });
  if (any) return kDone;
  std::string why;
  for (const Measurement& set : results.sets)
    if (why.empty()) why = set.first_error;
  return report(
      {Code::kUnavailable, "nothing could be evaluated; the first turn was lost because: " + why});
}

}  // namespace

int eval_policy(const CommandLine& line) {
  auto options = options_of(line);
  if (!options) return line.wrong(options.error().message);
  const auto chosen = choose_policy(line);
  if (!chosen) return report(chosen.error());
  if (const auto served = serve_as_follower(chosen->loaded)) return *served;
  show_notes(*chosen);
  const StopSignals signals;
  Session session(chosen->loaded.registry, print_warning,
                  call_scope(chosen->plan().run, signals.stop()));
  ProgressLine progress;
  options->warn = print_warning;
  options->progress = [&](auto set, auto phase, int done, int of) {
    progress.show(set, phase, done, of);
  };
  const auto results = evaluate_policy(*chosen, *options, session.components());
  progress.clear();
  if (results) return finish(line, *chosen, *options, *results);
  if (results.error().code != Code::kCancelled) return report(results.error());
  print_error("kernelrl: interrupted\n");
  return kInterrupted;
}

}  // namespace krl::cli
