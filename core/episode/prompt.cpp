#include "core/episode/prompt.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <kernelrl/spelling.hpp>
#include <sstream>

#include "core/base/file_system.hpp"
#include "core/episode/feedback.hpp"
#include "core/plan/source.hpp"

namespace krl::core {
namespace {

constexpr std::string_view kOpenBraces = "{{", kCloseBraces = "}}";

bool leaves_no_line(bool has_name, const std::string& rendered) {
  return has_name && rendered.find_first_not_of(" \t") == std::string::npos;
}

// "same as turn 1", if this kernel was tried before.
std::string repeat_of(const std::vector<TurnRecord>& earlier, std::size_t index) {
  for (std::size_t i = 0; i < index; ++i) {
    if (earlier[i].candidate.source == earlier[index].candidate.source) {
      return fmt::format("This is the very kernel of turn {}: try something else.", i + 1);
    }
  }
  return {};
}

std::string without_last_newline(std::string text) {
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Template::Values values_of(const std::vector<TurnRecord>& earlier, std::size_t index) {
  const TurnRecord& turn = earlier[index];
  return {{"turn", std::to_string(index + 1)},
          {"kernel", without_last_newline(turn.candidate.source)},
          {"verdict", std::string(name_of(turn.evaluation.verdict))},
          {"why", describe_briefly(turn.evaluation) + describe_prospects(turn.evaluation)},
          {"result", describe_result(turn.candidate, turn.evaluation)},
          {"strategies", describe_strategies(turn.evaluation)},
          {"repeat", repeat_of(earlier, index)}};
}

const std::vector<std::string> kTaskNames = {
    "id", "title", "prompt", "signature", "cases", "device", "baseline", "documents", "history"};
const std::vector<std::string> kDocumentNames = {"number", "id", "task", "text"};
const std::vector<std::string> kTurnNames = {"turn",   "kernel",     "verdict", "why",
                                             "result", "strategies", "repeat"};

}  // namespace

Result<Template> Template::parse(std::string_view text, const std::vector<std::string>& known,
                                 std::string_view origin) {
  Template result;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    Line pieces;
    std::size_t at = 0;
    for (std::size_t open = line.find(kOpenBraces); open != std::string::npos;
         open = line.find(kOpenBraces, at)) {
      const std::size_t close = line.find(kCloseBraces, open);
      const auto where = [&] { return fmt::format("{}:{}:{}: error: ", origin, number, open + 1); };
      if (close == std::string::npos) return invalid(where() + "'{{' without '}}' on its line");
      const std::string name = line.substr(open + 2, close - open - 2);
      if (std::ranges::find(known, name) == known.end()) {
        return invalid(fmt::format("{}unknown name '{}'{}   known: {}", where(), name,
                                   did_you_mean(name, known, ""), fmt::join(known, ", ")));
      }
      if (open > at) pieces.push_back({line.substr(at, open - at), false});
      pieces.push_back({name, true});
      at = close + 2;
    }
    if (at < line.size() || pieces.empty()) pieces.push_back({line.substr(at), false});
    result.lines_.push_back(std::move(pieces));
  }
  return result;
}

Result<Template> Template::read(const std::filesystem::path& file,
                                const std::vector<std::string>& known) {
  const auto text = read_text_file(file);
  if (!text) return failure(Code::kNotFound, text.error());
  return parse(*text, known, file.string());
}

bool Template::uses(std::string_view name) const {
  return std::ranges::any_of(lines_, [&](const Line& line) {
    return std::ranges::any_of(
        line, [&](const Piece& piece) { return piece.is_name && piece.text == name; });
  });
}

std::string Template::render(const Values& values) const {
  std::string text;
  for (const Line& line : lines_) {
    std::string rendered;
    bool has_name = false;
    for (const Piece& piece : line) {
      has_name |= piece.is_name;
      rendered += piece.is_name ? values.find(piece.text)->second : piece.text;
    }
    if (leaves_no_line(has_name, rendered)) continue;
    text += rendered;
    if (rendered.empty() || rendered.back() != '\n') text += '\n';
  }
  return text;
}

PromptBuilder::PromptBuilder(Template task, Template turn, Template older,
                             std::optional<Template> document, std::string system, TimedOn timed_on)
    : task_(std::move(task)),
      turn_(std::move(turn)),
      older_turn_(std::move(older)),
      document_(std::move(document)),
      system_(std::move(system)),
      timed_on_(std::move(timed_on)) {}

Result<PromptBuilder> PromptBuilder::load(const std::filesystem::path& templates,
                                          std::string system, Contract contract, TimedOn timed_on) {
  const char* const usual = contract == Contract::kHost ? "host" : "default";
  const std::filesystem::path folder =
      templates.empty() ? shared_files() / "configs/prompts" / usual : templates;
  KRL_ASSIGN(Template task, Template::read(folder / "task.txt", kTaskNames));
  KRL_ASSIGN(Template turn, Template::read(folder / "turn.txt", kTurnNames));
  KRL_ASSIGN(Template older, Template::read(folder / "older_turn.txt", kTurnNames));
  std::optional<Template> document;
  if (std::filesystem::exists(folder / "document.txt")) {
    KRL_ASSIGN(document, Template::read(folder / "document.txt", kDocumentNames));
  }
  return PromptBuilder(std::move(task), std::move(turn), std::move(older), std::move(document),
                       std::move(system), std::move(timed_on));
}

std::string PromptBuilder::history(const std::vector<TurnRecord>& earlier) const {
  std::string text;
  for (std::size_t i = 0; i < earlier.size(); ++i) {
    const bool newest = i + 1 == earlier.size();
    text += (newest ? turn_ : older_turn_).render(values_of(earlier, i));
  }
  return text;
}

std::string PromptBuilder::examples(const std::vector<Document>& documents) const {
  std::string text;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    text += document_->render({{"number", std::to_string(i + 1)},
                               {"id", documents[i].id},
                               {"task", documents[i].task},
                               {"text", without_last_newline(documents[i].text)}});
  }
  return text;
}

Prompt PromptBuilder::build(const Task& task, const std::vector<TurnRecord>& earlier,
                            const std::vector<Document>& documents) const {
  const TaskFacts& facts = task.facts;
  const bool real = timed_on_.real_sizes && !facts.real_cases.empty();
  Prompt prompt;
  if (!system_.empty()) prompt.push_back({KRL_ROLE_SYSTEM, system_});
  if (task.definition_json.empty()) {
    prompt.push_back({KRL_ROLE_USER, task.prompt});
    return prompt;
  }
  prompt.push_back({KRL_ROLE_USER, task_.render({{"id", task.id},
                                                 {"title", task.title},
                                                 {"prompt", without_last_newline(task.prompt)},
                                                 {"signature", facts.signature},
                                                 {"cases", real ? facts.real_cases : facts.cases},
                                                 {"device", timed_on_.device},
                                                 {"baseline", without_last_newline(facts.naive)},
                                                 {"documents", examples(documents)},
                                                 {"history", history(earlier)}})});
  return prompt;
}

}  // namespace krl::core
