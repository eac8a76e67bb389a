// Prompts: a task, and what earlier turns gave, as the messages that a policy answers.
#pragma once

#include <filesystem>
#include <kernelrl/evaluation.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"
#include "core/episode/episode.hpp"
#include "core/plugin/dataset.hpp"
#include "core/plugin/policy.hpp"
#include "core/task/task.hpp"

namespace krl::core {

// A parsed text template, in which `{{name}}` is replaced by a value. Immutable. A line that holds
// nothing but placeholders whose values are empty leaves no line behind.
class Template {
 public:
  using Values = std::map<std::string, std::string, std::less<>>;

  // `known`: the names that may be used; another one is an error with its line and column in
  // `origin`.
  static Result<Template> parse(std::string_view text, const std::vector<std::string>& known,
                                std::string_view origin);
  static Result<Template> read(const std::filesystem::path& file,
                               const std::vector<std::string>& known);

  // True if the value of `name` appears.
  bool uses(std::string_view name) const;

  // REQUIRES: `values` holds every name that parse() was told of.
  std::string render(const Values& values) const;

 private:
  struct Piece {
    std::string text;
    bool is_name = false;
  };
  using Line = std::vector<Piece>;
  std::vector<Line> lines_;
};

// The properties of the timing machine that prompts may name.
struct TimedOn {
  std::string device;       // "NVIDIA H200"; empty: not known
  bool real_sizes = false;  // are tasks that name real sizes timed at those?
};

// Immutable after loading; any thread may build prompts.
class PromptBuilder {
 public:
  // `folder` (empty: the installed prompts/default, or prompts/host for that contract) holds
  // task.txt (with {{id}} {{title}} {{prompt}} {{signature}} {{cases}} {{device}} {{baseline}}
  // {{documents}} {{history}}), turn.txt for the newest of the earlier turns ({{turn}} {{kernel}}
  // {{verdict}} {{why}} {{result}} {{strategies}} {{repeat}}), older_turn.txt for those before it
  // and, to show documents, document.txt ({{number}} {{id}} {{task}} {{text}}).
  static Result<PromptBuilder> load(const std::filesystem::path& folder, std::string system,
                                    Contract contract = Contract::kDevice, TimedOn timed_on = {});

  // True if task.txt has a place for documents, and document.txt exists.
  bool can_show_documents() const { return document_ && task_.uses("documents"); }

  // The prompt of the turn after `earlier`, with `documents` in their order; of a task without a
  // definition, its text alone. REQUIRES: the task's facts, if it has a definition;
  // can_show_documents(), if there are any.
  Prompt build(const Task& task, const std::vector<TurnRecord>& earlier,
               const std::vector<Document>& documents = {}) const;

 private:
  PromptBuilder(Template task, Template turn, Template older, std::optional<Template> document,
                std::string system, TimedOn timed_on);

  std::string history(const std::vector<TurnRecord>& earlier) const;
  std::string examples(const std::vector<Document>& documents) const;

  Template task_, turn_, older_turn_;
  std::optional<Template> document_;
  std::string system_;
  TimedOn timed_on_;
};

}  // namespace krl::core
