#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <kernelrl/spelling.hpp>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/line_reader.hpp"
#include "cli/plan_run.hpp"
#include "cli/policy_options.hpp"
#include "cli/stop_signals.hpp"
#include "core/base/hash.hpp"
#include "core/measure/measure_policy.hpp"
#include "core/plugin/policy.hpp"
#include "core/plugin/session.hpp"

namespace krl::cli {
namespace {

// A conversation with a policy on a terminal, or over pipes.
class Chat {
 public:
  // All of it outlives the chat. While a line is obeyed, signals are
  // StopSignals': `call` and `components` are of a scope that those stop.
  Chat(const Plan& plan, const Settings& settings, const Policy& policy, Components& components);

  // Answers what is typed until its end or /quit. An error ends an answer, not the chat.
  void run();

 private:
  struct Command;
  static const std::vector<Command>& commands();

  void obey(const std::string& line);
  void answer(const std::string& message);
  void reset(const std::string& argument);
  void set_system(const std::string& argument);
  void show_task(const std::string& argument);
  void help(const std::string& argument);

  void play(const Task& task);
  Result<Answer> sample(const Prompt& prompt);
  Result<const Task*> find_task(const std::string& id);

  const Plan& plan_;
  const Settings& settings_;
  const Policy& policy_;
  Components& components_;
  std::string system_;
  Prompt conversation_;              // without the system message
  std::optional<StageSetup> setup_;  // made for the first task
  int asked_ = 0;                    // part of every seed
  bool over_ = false;
};

// A model's text may contain escape sequences of a terminal.
std::string safe(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return (c >= 0 && c < ' ' && c != '\n' && c != '\t') || c == '\x7f'; }, '?');
  return text;
}

void show(const std::string& text) { print(text + (text.ends_with('\n') ? "" : "\n")); }

void complain(const Error& error) {
  if (error.code == Code::kCancelled) {
    print_error("interrupted\n");
  } else {
    report(error);
  }
}

const char* name_of_role(std::uint32_t role) {
  return role == KRL_ROLE_SYSTEM ? "system" : role == KRL_ROLE_USER ? "user" : "assistant";
}

void show_answer(const Answer& answer) {
  show(safe(answer.text));
  if (answer.stop_reason == KRL_STOP_LENGTH && answer.tokens.empty())
    show("(cut off)");
  else if (answer.stop_reason == KRL_STOP_LENGTH)
    show(fmt::format("(cut off after {} tokens)", answer.tokens.size()));
}

void show_prompt(const Prompt& prompt) {
  for (const Message& message : prompt)
    show(fmt::format("--- {}\n{}", name_of_role(message.role), safe(message.text)));
  show("--- assistant");
}

// Shows the result of a prompt.
void show_outcome(const TurnRecord& turn) {
  if (turn.lost) return complain({Code::kUnavailable, turn.infra_why()});
  show_answer(turn.answer);
  show("--- evaluation\n" + safe(describe_evaluation(turn.candidate, turn.evaluation)));
  if (turn.evaluation.infra_error()) return;
  if (turn.infra_error()) return complain({Code::kUnavailable, turn.infra_why()});
  show(fmt::format("score {:.3f}", turn.score.total));
}

struct Chat::Command {
  const char* name;
  const char* argument;  // empty if it takes none
  const char* about;
  void (Chat::*obey)(const std::string& argument);
};

const std::vector<Chat::Command>& Chat::commands() {
  static const std::vector<Command> kCommands = {
      {"/task", "ID", "play an episode of a task: its prompts, answers and evaluations",
       &Chat::show_task},
      {"/system", "TEXT", "start over with this system message; without TEXT, with none",
       &Chat::set_system},
      {"/reset", "", "start over", &Chat::reset},
      {"/help", "", "this text", &Chat::help},
      {"/quit", "", "quit, like Ctrl-D; Ctrl-C stops an answer", nullptr}};
  return kCommands;
}

Chat::Chat(const Plan& plan, const Settings& settings, const Policy& policy, Components& components)
    : plan_(plan),
      settings_(settings),
      policy_(policy),
      components_(components),
      system_(settings.prompt.system) {}

void Chat::run() {
  LineReader lines("chat_history");
  if (lines.on_terminal()) print("/help lists the commands\n");
  while (!over_) {
    const auto line = lines.next();
    if (!line) break;
    const StopSignals signals;
    if (line->starts_with("/")) {
      obey(*line);
    } else if (line->find_first_not_of(" \t\r") != std::string::npos) {
      answer(*line);
    }
  }
  if (lines.on_terminal() && !over_) print("\n");
}

void Chat::obey(const std::string& line) {
  const std::size_t blank = std::min(line.find(' '), line.size());
  const std::string name = line.substr(0, blank);
  const std::size_t begin = line.find_first_not_of(' ', blank);
  const std::string argument = begin == std::string::npos ? "" : line.substr(begin);
  std::vector<std::string> names;
  for (const Command& command : commands()) {
    names.emplace_back(command.name);
    if (name != command.name) continue;
    if (command.argument[0] == '\0' && !argument.empty())
      return complain({Code::kInvalidArgument, name + " takes no argument"});
    if (command.obey == nullptr) {
      over_ = true;
    } else {
      (this->*command.obey)(argument);
    }
    return;
  }
  complain({Code::kInvalidArgument,
            "unknown command '" + name + "'" + did_you_mean(name, names, "; /help lists them")});
}

void Chat::answer(const std::string& message) {
  conversation_.push_back({KRL_ROLE_USER, message});
  Prompt prompt = conversation_;
  if (!system_.empty()) prompt.insert(prompt.begin(), {KRL_ROLE_SYSTEM, system_});
  const auto answer = sample(prompt);
  if (!answer) {
    conversation_.pop_back();  // as if it had not been said
    return complain(answer.error());
  }
  show_answer(*answer);
  conversation_.push_back({KRL_ROLE_ASSISTANT, answer->text});
}

void Chat::reset(const std::string& /*argument*/) { conversation_.clear(); }

void Chat::set_system(const std::string& argument) {
  system_ = argument;
  conversation_.clear();
}

void Chat::show_task(const std::string& argument) {
  const auto task = find_task(argument);
  if (!task) return complain(task.error());
  play(**task);
}

void Chat::help(const std::string& /*argument*/) {
  std::vector<std::vector<std::string>> rows;
  for (const Command& command : commands()) {
    rows.push_back({fmt::format("{} {}", command.name, command.argument), command.about});
  }
  print(columns(rows));
}

// The conversation continues from the last answer.
void Chat::play(const Task& task) {
  show_prompt(setup_->prompts->build(task, {}));  // at once; the rest when the episode is over
  const MeasurementSetup how{.policy = policy_,
                             .settings = settings_,
                             .setup = *setup_,
                             .samples = 1,
                             .ks = {1},
                             .run_seed = plan_.run.seed,
                             .progress = {}};
  const auto episode = play_task(how, task, static_cast<std::size_t>(asked_++));
  if (!episode) return complain(episode.error());
  for (const TurnRecord& turn : episode->turns) {
    if (&turn != &episode->turns.front()) show_prompt(turn.prompt);
    show_outcome(turn);
    if (turn.lost) continue;
    system_.clear();  // the prompt has its own
    conversation_ = turn.prompt;
    conversation_.push_back({KRL_ROLE_ASSISTANT, turn.answer.text});
  }
}

Result<Answer> Chat::sample(const Prompt& prompt) {
  const std::uint64_t seed = seed_for(plan_.run.seed, "chat", asked_++);
  Result<Answer> answer;
  const AnswerSink sink{
      [&](std::size_t, std::uint32_t, Answer given) { answer = std::move(given); },
      [&](std::size_t, Error why) { answer = failure(std::move(why)); }};
  Metrics ignored;
  KRL_TRY(policy_.sample({{1, prompt, sampling_of(settings_.rollout), seed}}, sink, ignored));
  return answer;
}

// Sets the stage up first, if that has not been done: without a task there is no need for a
// backend.
Result<const Task*> Chat::find_task(const std::string& id) {
  if (!setup_) {
    KRL_ASSIGN(setup_, set_up(settings_, components_));
  }
  std::vector<std::string> ids;
  const auto look = [&](const std::vector<Task>& tasks) -> const Task* {
    for (const Task& task : tasks) {
      if (task.id == id) return &task;
      ids.push_back(task.id);
    }
    return nullptr;
  };
  if (const Task* task = look(setup_->data.tasks)) return task;
  for (const Holdout& holdout : setup_->data.holdouts) {
    if (const Task* task = look(holdout.tasks)) return task;
  }
  return invalid("the plan has no task '" + id + "'" +
                 did_you_mean(id, ids, fmt::format("; it has {}", fmt::join(ids, ", "))));
}

// Replaces `value` by the number of the option `name`, if it is given. Returns false if it is not
// in `low`..`high`.
template <class Number>
bool take_number(const CommandLine& line, const char* name, double low, double high,
                 Number& value) {
  if (!line.has(name)) return true;
  const auto given = number_in<Number>(line.text(name));
  value = given.value_or(value);
  return given && static_cast<double>(value) >= low && static_cast<double>(value) <= high;
}

int chat(const ChosenPolicy& chosen, const Settings& settings) {
  Session session(chosen.loaded.registry, print_warning,
                  call_scope(chosen.plan().run, StopSignals::stop()));
  const auto policy = open_policy(chosen, session.components());
  if (!policy) return report(policy.error());
  Chat(chosen.plan(), settings, *policy, session.components()).run();
  return kDone;
}

}  // namespace

int chat_command(const Words& words) {
  CommandLine line(
      "kernelrl chat (--run NAME | --plan PLAN [--checkpoint DIR])",
      "Sends each line of input to a policy and prints its answer; /help lists the commands.\n");
  add_policy_options(line);
  line.option("max-tokens", "N", "maximum tokens per answer; by default the plan's");
  line.option("temperature", "T", "sampling temperature, 0 = greedy; by default the plan's");
  if (const auto over = line.parse(words)) return *over;
  if (!names_policy(line)) return line.wrong("no policy given: use --run NAME or --plan PLAN");
  const auto chosen = choose_policy(line);
  if (!chosen) return report(chosen.error());
  if (const auto served = serve_as_follower(chosen->loaded)) return *served;
  show_notes(*chosen);
  Settings settings = chosen->settings();
  if (!take_number(line, "max-tokens", 1, 1 << 20, settings.rollout.max_tokens))
    return line.wrong("--max-tokens takes a number from 1 to 1048576");
  if (!take_number(line, "temperature", 0, 10, settings.rollout.temperature))
    return line.wrong("--temperature takes a number from 0 to 10");
  settings.rollout.batching = Batching::kWaves;  // one episode alone needs no other
  std::erase_if(settings.datasets,
                [](const DatasetSettings& d) { return d.role == DatasetRole::kWarmup; });
  return chat(*chosen, settings);
}

}  // namespace krl::cli
