#include "core/plan/lists.hpp"

#include <algorithm>

#include "core/plan/key_check.hpp"
#include "core/plan/merge.hpp"
#include "core/plan/schema.hpp"

namespace krl {
namespace {

constexpr const char* kAdd = "add";
constexpr std::size_t kMaxLost = 8;  // names of elements in a note

std::vector<std::string> list_names(bool of_stage) {
  std::vector<std::string> names;
  for (const TableRules& rules : plan_schema()) {
    if (rules.list && (rules.in_stage || !of_stage)) names.push_back(rules.name);
  }
  return names;
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_list_of_tables(const Node& node) {
  const Node::Array& all = node.elements();
  return node.is_array() && std::all_of(all.begin(), all.end(),
                                        [](const Node& element) { return element.is_table(); });
}

std::string word_at(const Node& table, std::string_view key, const char* other) {
  const Node* node = table.find_text(key);
  return node == nullptr ? other : *node->text();
}

// Whether an element of the plan's list means anything to a stage, or to the plan (null).
bool concerns(const Node& element, const std::string& list, const Node* stage) {
  if (stage == nullptr || list != "dataset") return true;
  const bool examples = word_at(element, "role", "train") == "warmup";
  return examples == (word_at(*stage, "kind", "") == "sft");
}

// The names of elements that are only in `before`; of equal names, as many as there are too many.
std::vector<std::string> lost_names(const std::string& list, const Node& before, const Node& after,
                                    const Node* stage) {
  std::vector<std::string> kept, lost;
  for (const Node& element : after.elements()) {
    if (const Node* name = element.find_name()) kept.push_back(*name->text());
  }
  for (const Node& element : before.elements()) {
    const Node* name = element.find_name();
    if (name == nullptr || !concerns(element, list, stage)) continue;
    const auto same = std::find(kept.begin(), kept.end(), *name->text());
    if (same == kept.end()) {
      lost.push_back(*name->text());
    } else {
      kept.erase(same);
    }
  }
  return lost;
}

std::string enumerated(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMaxLost); ++i) {
    const bool last = i > 0 && i + 1 == names.size();
    out += (i == 0 ? "'" : last ? " and '" : ", '") + names[i] + "'";
  }
  if (names.size() > kMaxLost) out += " and " + std::to_string(names.size() - kMaxLost) + " more";
  return out;
}

// The first table of a list, or its empty brackets.
const Origin& place_of(const Node& list) {
  return list.elements().empty() ? list.origin : list.elements().front().origin;
}

void note_loss(const std::string& list, const Node& before, const Node& after, const Node* stage,
               std::vector<std::string>& notes) {
  const std::vector<std::string> lost = lost_names(list, before, after, stage);
  if (lost.empty()) return;
  const Origin& at = place_of(after);
  const std::string name = stage == nullptr ? "" : word_at(*stage, "name", "");
  const bool argument = at.source != nullptr && at.source->name == "--set";
  const std::string in_stage = stage == nullptr ? "" : argument ? "stage." + name + "." : "stage.";
  const std::string adding = in_stage + kAdd + "." + list;
  notes.push_back(note_at(at, "this '" + list + "' list" +
                                  (stage == nullptr ? "" : " of stage '" + name + "'") +
                                  " replaces the one at " + place_of(before).line_text() +
                                  " and drops " + enumerated(lost) + "; " +
                                  (argument ? "--set '" + adding + "=[…]'" : "[[" + adding + "]]") +
                                  " appends instead"));
}

void append(Node& list, const Node& more) {
  auto& elements = std::get<Node::Array>(list.value);
  elements.insert(elements.end(), more.elements().begin(), more.elements().end());
}

// Adds one entry of a layer's `add`.
void add(Node& tables, const Entry& addition, bool wait) {
  const std::string& name = addition.key;
  const Node& more = addition.value;
  if (contains(list_names(false), name) && is_list_of_tables(more)) {
    Node* list = tables.find(name);
    if (list != nullptr && list->is_array()) return append(*list, more);
    if (list == nullptr && !wait) return tables.set(name, addition.origin, more);
  }
  Node& waiting = tables.child(kAdd, addition.origin);
  if (!waiting.is_table()) return;  // an earlier layer's mistake, which is reported
  Node* list = waiting.find(name);
  if (list != nullptr && list->is_array() && more.is_array()) return append(*list, more);
  waiting.set(name, addition.origin, more);
}

}  // namespace

void lay(Node& tables, const Node& layer, const Node* stage, std::vector<std::string>& notes) {
  const bool wait = stage == &tables;
  for (const std::string& name : list_names(stage != nullptr)) {
    const Node* list = layer.find(name);
    const Node* before = tables.find(name);
    if (list != nullptr && before != nullptr) note_loss(name, *before, *list, stage, notes);
    if (Node* waiting = tables.find(kAdd); list != nullptr && waiting != nullptr) {
      if (waiting->is_table()) waiting->erase(name);
    }
  }
  Node own = layer;
  own.erase(kAdd);
  merge(tables, own, wait ? "stage." + word_at(*stage, "name", "") : "");
  const Node* additions = layer.find(kAdd);
  if (additions == nullptr) return;
  if (!additions->is_table()) return tables.set(kAdd, additions->origin, *additions);
  for (const Entry& addition : additions->entries()) add(tables, addition, wait);
}

void refuse_additions(Node& tables, bool of_stage, std::vector<Problem>& problems) {
  const Node* additions = tables.find(kAdd);
  if (additions == nullptr) return;
  const std::vector<std::string> known = list_names(of_stage);
  const std::string header = of_stage ? "[[stage.add." : "[[add.";
  if (!additions->is_table()) {
    problems.push_back({additions->origin,
                        "'add' must be a table of lists, not " + std::string(additions->kind()),
                        "write " + header + "reward]]"});
  }
  for (const Entry& addition : additions->entries()) {
    if (!contains(known, addition.key)) {
      problems.push_back({addition.origin, "nothing can be added to '" + addition.key + "'",
                          spelling_hint(addition.key, known, "lists")});
    } else if (!is_list_of_tables(addition.value)) {
      problems.push_back({addition.value.origin,
                          "'add." + addition.key + "' must be a list of tables",
                          "write " + header + addition.key + "]]"});
    }
  }
  tables.erase(kAdd);
}

}  // namespace krl
