#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "cli/chosen_policy.hpp"
#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/measurement_report.hpp"
#include "cli/plan_run.hpp"
#include "cli/stop_signals.hpp"
#include "core/base/file_system.hpp"
#include "core/episode/sample_record.hpp"
#include "core/measure/measure_policy.hpp"
#include "core/plugin/session.hpp"

namespace krl::cli {
namespace {

using nlohmann::json;

constexpr std::int64_t kDefaultSamples = 16, kMostSamples = 4096;
constexpr std::size_t kNextK = 4;  // by default 1, 4, 16, …

struct EvalOptions {
  std::int64_t samples = kDefaultSamples;
  std::vector<std::size_t> ks;  // rising, from 1
  bool train = true, holdout = true;
};

template <class Number>
std::optional<Number> number_in(std::string_view text) {
  Number value = 0;
  const auto end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  return parsed.ec == std::errc() && parsed.ptr == end ? std::optional(value) : std::nullopt;
}

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

std::vector<std::size_t> default_ks(std::size_t most) {
  std::vector<std::size_t> ks;
  for (std::size_t k = 1; k < most; k *= kNextK) ks.push_back(k);
  ks.push_back(most);
  return ks;
}

Result<EvalOptions> options_of(const CommandLine& line) {
  EvalOptions options;
  if (line.has("samples")) {
    const auto samples = number_in<std::int64_t>(line.text("samples"));
    if (!samples || *samples < 1 || *samples > kMostSamples) {
      return invalid(fmt::format("--samples takes a number from 1 to {}, not '{}'", kMostSamples,
                                 line.text("samples")));
    }
    options.samples = *samples;
  }
  const auto most = static_cast<std::size_t>(options.samples);
  options.ks = line.has("k") ? ks_in(line.text("k"), most) : default_ks(most);
  if (options.ks.empty()) {
    return invalid(fmt::format("--k takes numbers from 1 to --samples, {}, such as 1,4, not '{}'",
                               most, line.text("k")));
  }
  const std::string tasks = line.has("tasks") ? line.text("tasks") : "all";
  if (tasks != "all" && tasks != "train" && tasks != "holdout")
    return invalid("--tasks takes train, holdout or all, not '" + tasks + "'");
  options.train = tasks != "holdout";
  options.holdout = tasks != "train";
  return options;
}

// The stage's settings with those tasks alone that are asked for.
Result<Settings> settings_of(const ChosenPolicy& chosen, const EvalOptions& options) {
  Settings settings = chosen.settings();
  const auto is_asked_for = [&](const DatasetSettings& dataset) {
    return (dataset.role == DatasetRole::kTrain && options.train) ||
           (dataset.role == DatasetRole::kHoldout && options.holdout);
  };
  auto& datasets = settings.datasets;
  std::erase_if(datasets, [&](const DatasetSettings& dataset) {
    return !is_asked_for(dataset) && dataset.role != DatasetRole::kRetrieval;
  });
  if (std::any_of(datasets.begin(), datasets.end(), is_asked_for)) return settings;
  const char* role = options.train ? "train" : "holdout";
  const std::string stage = chosen.stage_name();
  return invalid(fmt::format(
      "{}: {} has no tasks to evaluate on: add [[dataset]] with role = \"{}\"",
      chosen.plan().file.string(), stage.empty() ? "the plan" : "stage '" + stage + "'", role));
}

Status check_any_tasks(const StageData& data) {
  const auto has_tasks = [](const Holdout& set) { return !set.tasks.empty(); };
  const bool any =
      !data.tasks.empty() || std::any_of(data.holdouts.begin(), data.holdouts.end(), has_tasks);
  if (any) return {};
  return failure(data.empty.begin()->second);  // the requested set exists, and is empty
}

// One line on the error stream, if that is a terminal.
class ProgressLine {
 public:
  ~ProgressLine() {
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

struct Results {
  std::vector<Measurement> sets;
  BackendInfo backend;
  std::string answers;  // a JSON line for each turn
};

Result<Results> measure(const ChosenPolicy& chosen, const EvalOptions& options,
                        Components& components) {
  KRL_ASSIGN(const Settings settings, settings_of(chosen, options));
  KRL_TRY(check_batching(chosen.plan().policy, settings.rollout, components.registry()));
  KRL_ASSIGN(const StageSetup setup, set_up(settings, components));
  for (const std::string& warning : setup.data.warnings) print_warning(warning);
  KRL_TRY(check_any_tasks(setup.data));
  KRL_ASSIGN(const Policy policy, open_policy(chosen, components));
  ProgressLine line;
  std::string answers;
  const auto keep_answers = [&](std::string_view set, const std::vector<Episode>& episodes) {
    for (const Episode& episode : episodes) {
      for (json& record : sample_records(episode, setup.terms)) {
        record["set"] = set;
        answers += sample_line(record) + "\n";
      }
    }
  };
  KRL_ASSIGN(std::vector<Measurement> sets,
             measure_policy({.policy = policy,
                             .settings = settings,
                             .setup = setup,
                             .samples = options.samples,
                             .ks = options.ks,
                             .run_seed = chosen.plan().run.seed,
                             .progress = [&](std::string_view set, std::string_view phase, int done,
                                             int of) { line.show(set, phase, done, of); },
                             .played = keep_answers}));
  return Results{std::move(sets), setup.backend->info(), std::move(answers)};
}

json to_json(const ChosenPolicy& chosen, const EvalOptions& options, const Results& results) {
  const Settings& settings = chosen.settings();
  json object = {{"plan", chosen.plan().file.string()},
                 {"stage", nullptr},
                 {"policy", chosen.plan().policy.use},
                 {"checkpoint", nullptr},
                 {"backend", settings.backend.use},
                 {"toolchain", results.backend.toolchain},
                 {"device", results.backend.device},
                 {"seed", chosen.plan().run.seed},
                 {"samples", options.samples},
                 {"turns", settings.rollout.turns},
                 {"temperature", settings.rollout.temperature},
                 {"sets", json::array()}};
  if (!chosen.stage_name().empty()) object["stage"] = chosen.stage_name();
  if (chosen.checkpoint) object["checkpoint"] = chosen.checkpoint->directory.string();
  for (const Measurement& set : results.sets) object["sets"].push_back(core::to_json(set));
  return object;
}

std::string describe(const ChosenPolicy& chosen, const EvalOptions& options,
                     const Results& results) {
  const Settings& settings = chosen.settings();
  const std::string stage = chosen.stage_name();
  std::string text = fmt::format(
      "policy {}, {}; {}backend {} ({})\n{} episodes per task, {} turn{}, temperature {}, "
      "seed {}\n",
      chosen.plan().policy.use,
      chosen.checkpoint ? chosen.checkpoint->directory.string() : "as the plan describes it",
      stage.empty() ? "" : "stage " + stage + ", ", settings.backend.use, results.backend.device,
      options.samples, settings.rollout.turns, settings.rollout.turns == 1 ? "" : "s",
      settings.rollout.temperature, chosen.plan().run.seed);
  for (const Measurement& set : results.sets) text += "\n" + describe_measurement(set);
  return text;
}

int finish(const CommandLine& line, const ChosenPolicy& chosen, const EvalOptions& options,
           const Results& results) {
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
  const auto options = options_of(line);
  if (!options) return line.wrong(options.error().message);
  const auto chosen = choose_policy(line);
  if (!chosen) return report(chosen.error());
  if (const auto served = serve_as_follower(chosen->loaded)) return *served;
  show_notes(*chosen);
  const StopSignals signals;
  Session session(chosen->loaded.registry, print_warning,
                  call_scope(chosen->plan().run, signals.stop()));
  const auto results = measure(*chosen, *options, session.components());
  if (results) return finish(line, *chosen, *options, *results);
  if (results.error().code != Code::kCancelled) return report(results.error());
  print_error("kernelrl: interrupted\n");
  return kInterrupted;
}

}  // namespace krl::cli
