#include "plugins/datasets/templates/task_families.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "hand_kernels.hpp"
#include "other_hand_kernels.hpp"
#include "plugins/datasets/tasks/task_files.hpp"
#include "plugins/datasets/tasks/toml_document.hpp"
#include "siblings.hpp"
#include "task_texts.hpp"

namespace krl::templates {
namespace {

using Edits = std::vector<std::pair<std::string, std::string>>;

// Texts by the names of their files without the extension.
template <std::size_t n>
std::map<std::string, std::string> by_name(const char* const (&files)[n]) {
  std::map<std::string, std::string> texts;
  for (const std::string file : files) {
    const std::size_t line = file.find('\n');
    texts[file.substr(0, file.rfind('.', line))] = file.substr(line + 1);
  }
  return texts;
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Replaces `from` except where it begins or ends within a word. Returns true if it was replaced
// anywhere.
bool replace_all(std::string* text, const std::string& from, const std::string& to) {
  bool found = false;
  std::size_t at = 0;
  while ((at = text->find(from, at)) != std::string::npos) {
    const std::size_t end = at + from.size();
    const bool in_word = (at > 0 && is_word((*text)[at - 1]) && is_word(from.front())) ||
                         (end < text->size() && is_word((*text)[end]) && is_word(from.back()));
    if (!in_word) text->replace(at, from.size(), to);
    found |= !in_word;
    at += in_word ? from.size() : to.size();
  }
  return found;
}

TaskDefinition read_definition(const std::string& text, const std::string& name) {
  tasks::LoadedTasks loaded = tasks::read_task_text(text, name);
  if (loaded.tasks.empty()) throw std::runtime_error(loaded.errors.front());
  loaded.tasks.front().origin = {};
  return std::move(loaded.tasks.front());
}

// ---- Kernels as templates ----

struct Source {
  std::string code;     // without comments, except for directives
  std::string comment;  // comment at its beginning, on one line
};

Source without_comments(const std::string& text) {
  Source source;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t comment = line.find("//");
    if (comment == std::string::npos || line.compare(comment, 4, "// @") == 0) {
      source.code += line + "\n";
    } else if (line.find_first_not_of(' ') < comment) {
      source.code += line.substr(0, line.find_last_not_of(' ', comment - 1) + 1) + "\n";
    } else if (source.code.empty()) {
      source.comment +=
          (source.comment.empty() ? "" : " ") + line.substr(std::min(comment + 3, line.size()));
    }
  }
  return source;
}

// The block size of a naive kernel, whose code does not depend on it, becomes a choice.
Choices vary_blocks(std::string* code) {
  if (replace_all(code, "128), 128>>>", "$B), $B>>>")) return {{"B", {"32", "64", "128", "256"}}};
  if (code->find("dim3(16, 16)>>>") == std::string::npos) return {};
  const std::size_t end = code->find('\n', code->find("@launch"));
  std::string launch = code->substr(0, end);
  replace_all(&launch, ", 16)", ", $T)");
  replace_all(&launch, "dim3(16, $T)", "dim3($T, $T)");
  code->replace(0, end, launch);
  return {{"T", {"8", "16"}}};
}

std::string placeholder(std::size_t edit) { return "edit" + std::to_string(edit); }

Variant variant_of(const std::string& name, const std::string& text, const Edits& edits,
                   const std::set<std::string>& names) {
  Source source = without_comments(text);
  Variant variant;
  variant.name = name;
  variant.thought = source.comment.empty() ? "the plain way" : source.comment;
  if (name == "naive") variant.choices = vary_blocks(&source.code);
  for (std::size_t e = 0; e < edits.size(); ++e)
    replace_all(&source.code, edits[e].first, "$" + placeholder(e));
  variant.source = mark_names(source.code, names);
  return variant;
}

// ---- Operations ----

std::set<std::string> names_of(const TaskDefinition& task) {
  std::set<std::string> names;
  for (const Axis& axis : task.axes)
    if (axis.is_variable()) names.insert(axis.name);
  for (const TensorDefinition& tensor : task.inputs) names.insert(tensor.name);
  for (const TensorDefinition& tensor : task.outputs) names.insert(tensor.name);
  for (const ScalarDefinition& scalar : task.scalars) names.insert(scalar.name);
  return names;
}

// A sole variable axis is a length; of several the first two are rows and columns. Others keep
// their names, which a prompt may use as words.
NameKind kind_of(const Axis& axis, std::size_t variable, std::size_t variables) {
  if (!axis.is_variable()) return NameKind::kFixed;
  if (variables == 1) return NameKind::kLength;
  return variable == 0 ? NameKind::kRows : variable == 1 ? NameKind::kColumns : NameKind::kInner;
}

Operation operation_of(TaskDefinition task, bool canonical) {
  Operation operation;
  operation.id = task.id;
  operation.title = task.title;
  operation.tier = task.tier;
  operation.canonical = canonical;
  const auto variables = static_cast<std::size_t>(std::count_if(
      task.axes.begin(), task.axes.end(), [](const Axis& a) { return a.is_variable(); }));
  std::size_t variable = 0;
  for (const Axis& axis : task.axes) {
    operation.axes.push_back({axis.name, axis.name, kind_of(axis, variable, variables), axis.size});
    variable += axis.is_variable() ? 1 : 0;
  }
  for (const TensorDefinition& tensor : task.inputs)
    operation.inputs.push_back({tensor.name, tensor.name, tensor.shape, tensor.dtype});
  for (const TensorDefinition& tensor : task.outputs)
    operation.outputs.push_back({tensor.name, tensor.name, tensor.shape, tensor.dtype});
  for (const ScalarDefinition& scalar : task.scalars)
    operation.scalars.push_back({scalar.name, scalar.name, scalar.value});
  operation.definition = std::move(task);
  return operation;
}

// ---- Siblings ----

struct Sibling {
  std::string of, id, title;
  Edits edits;  // edits of the task file and of all kernels
};

std::vector<Sibling> read_siblings() {
  const tasks::TomlResult read = tasks::parse_toml(siblings);
  if (read.error) throw std::runtime_error("siblings.toml: " + read.error->message);
  std::vector<Sibling> list;
  for (const auto& entry : read.document.json.at("sibling")) {
    list.push_back({entry.at("of"), entry.at("id"), entry.at("title"), {}});
    for (const auto& edit : entry.at("edit"))
      list.back().edits.emplace_back(edit.at(0), edit.at(1));
  }
  return list;
}

// The task file with the edits made; each has to be made somewhere.
Operation sibling_operation(const Sibling& sibling, std::string text, const std::string& kernels,
                            const Edits& edits, const std::set<std::string>& names) {
  Scope parts;
  for (std::size_t e = 0; e < edits.size(); ++e) {
    const auto own = std::find_if(sibling.edits.begin(), sibling.edits.end(),
                                  [&](const auto& edit) { return edit.first == edits[e].first; });
    const std::string& to = own == sibling.edits.end() ? edits[e].first : own->second;
    parts[placeholder(e)] = mark_names(to, names);
  }
  for (const auto& [from, to] : sibling.edits) {
    const bool in_kernels = kernels.find(from) != std::string::npos;
    if (!replace_all(&text, from, to) && !in_kernels)
      throw std::runtime_error("siblings.toml: " + sibling.id + ": '" + from + "' is nowhere");
  }
  TaskDefinition task = read_definition(text, sibling.id);
  task.id = sibling.id;
  task.title = sibling.title;
  Operation operation = operation_of(std::move(task), false);
  operation.parts = std::move(parts);
  return operation;
}

// Every word that a random name must not be.
std::set<std::string> words_of(const Family& family, const std::set<std::string>& names) {
  std::set<std::string> words;
  const auto add = [&](const std::string& text) {
    for (std::size_t at = 0; at < text.size();) {
      std::size_t end = at;
      while (end < text.size() && is_word(text[end])) ++end;
      if (end > at && (at == 0 || text[at - 1] != '$')) words.insert(text.substr(at, end - at));
      at = std::max(end, at + 1);
    }
  };
  for (const Variant& variant : family.variants) add(variant.source);
  for (const Operation& operation : family.operations) {
    add(mark_names(operation.definition->prompt, names));
    for (const auto& [name, text] : operation.parts) add(text);
    for (const AxisRole& axis : operation.axes)
      if (axis.kind == NameKind::kFixed) words.insert(axis.name);
  }
  return words;
}

}  // namespace

std::string mark_names(std::string_view text, const std::set<std::string>& names) {
  std::string marked;
  bool quoted = false;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') quoted = !quoted;
    if (!is_word(c)) {
      marked += c;
      ++at;
      continue;
    }
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    const std::string word(text.substr(at, end - at));
    const std::string_view before = text.substr(at < 2 ? 0 : at - 2, std::min<std::size_t>(at, 2));
    const bool member =
        before == "->" || (!before.empty() && (before.back() == '.' || before.back() == '$'));
    if (!quoted && !member && names.count(word) > 0) marked += '$';
    marked += word;
    at = end;
  }
  return marked;
}

std::vector<Family> task_families(const std::set<std::string>& taken) {
  const auto hand = by_name(hand_kernels), others = by_name(other_hand_kernels);
  const std::vector<Sibling> all_siblings = read_siblings();
  std::vector<Family> families;
  for (const auto& [id, text] : by_name(task_texts)) {
    if (taken.count(id) > 0) continue;
    TaskDefinition task = read_definition(text, id + ".toml");
    const std::set<std::string> names = names_of(task);
    Edits edits;  // edits of all siblings, each once
    for (const Sibling& sibling : all_siblings) {
      for (const auto& edit : sibling.edits) {
        const auto same = [&](const auto& known) { return known.first == edit.first; };
        if (sibling.of == id && std::none_of(edits.begin(), edits.end(), same))
          edits.push_back(edit);
      }
    }
    Family family{id, {}, {}, {}};
    std::string kernels = task.naive;
    family.variants.push_back(variant_of("naive", task.naive, edits, names));
    for (const auto& [name, files] : {std::pair("by_hand", &hand), std::pair("second", &others)}) {
      const auto file = files->find(id);
      if (file == files->end()) continue;
      kernels += file->second;
      family.variants.push_back(variant_of(name, file->second, edits, names));
    }
    family.operations.push_back(operation_of(std::move(task), true));
    for (std::size_t e = 0; e < edits.size(); ++e)
      family.operations[0].parts[placeholder(e)] = mark_names(edits[e].first, names);
    for (const Sibling& sibling : all_siblings) {
      if (sibling.of == id)
        family.operations.push_back(sibling_operation(sibling, text, kernels, edits, names));
    }
    family.words = words_of(family, names);
    families.push_back(std::move(family));
  }
  return families;
}

}  // namespace krl::templates
