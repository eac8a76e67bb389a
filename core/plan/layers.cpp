#include "core/plan/layers.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "core/plan/built_in.hpp"
#include "core/plan/key_check.hpp"
#include "core/plan/node.hpp"
#include "core/plan/overrides.hpp"
#include "core/plan/schema.hpp"
#include "core/plan/source.hpp"

namespace krl::core {
namespace fs = std::filesystem;
namespace {

// Limit of one plan; also ends includes that double at each level.
constexpr std::size_t kMaxFiles = 64;

class LayerReader {
 public:
  LayerReader(std::vector<Problem>& problems, std::vector<std::string>& notes)
      : problems_(problems), notes_(notes) {}

  // Lays `file` on the document, after its includes. `asked_by` is the include that names it,
  // `searched` where it was looked for. False if a file could not be read.
  bool read(const fs::path& file, const Origin& asked_by, const std::string& searched) {
    auto text = read_text_file(file);
    std::error_code ignored;
    if (!text) return report(asked_by, text.error(), fs::exists(file, ignored) ? "" : searched);
    const fs::path canonical = fs::weakly_canonical(file, ignored);
    if (std::ranges::find(open_files_, canonical) != open_files_.end()) {
      return report(asked_by, "'" + file.string() + "' includes itself",
                    "remove one of the includes that form the circle");
    }
    auto source = std::make_shared<Source>();
    source->name = file.string();
    source->folder = fs::absolute(file, ignored).lexically_normal().parent_path();
    source->text = std::move(*text);
    source->order = files_++;
    auto own = read_toml(source);
    if (!own) {
      problems_.push_back(std::move(own.error()));
      return false;
    }
    own->origin = {source, 0, 0, 1};

    open_files_.push_back(canonical);
    const bool complete = read_includes(*own);
    open_files_.pop_back();
    own->erase("include");
    lay(document_, *own, nullptr, notes_);
    return complete;
  }

  Node document() && { return std::move(document_); }

 private:
  bool read_includes(const Node& layer) {
    const Node* includes = layer.find("include");
    if (includes == nullptr) return true;
    if (!includes->is_array()) {
      return report(includes->origin,
                    "'include' must be an array of paths, not " + std::string(includes->kind()),
                    "write include = [\"file.toml\"]");
    }
    const Source& source = *layer.origin.source;
    const fs::path folder = fs::path(source.name).parent_path();
    bool complete = true;
    for (const Node& include : includes->elements()) {
      if (include.text() == nullptr) {
        complete = report(include.origin, "an include must be a path (a string), not " +
                                              std::string(include.kind()));
      } else if (files_ >= kMaxFiles) {
        return report(include.origin, "a plan has at most " + std::to_string(kMaxFiles) + " files");
      } else if (!read(find_near(folder, *include.text()), include.origin,
                       searched_for(source.folder, *include.text()))) {
        complete = false;
      }
    }
    return complete;
  }

  bool report(const Origin& at, std::string message, std::string hint = {}) {
    problems_.push_back({at, std::move(message), std::move(hint)});
    return false;
  }

  Node document_ = Node::table({});
  std::vector<fs::path> open_files_;  // canonical, from the plan inwards
  std::size_t files_ = 0;
  std::vector<Problem>& problems_;
  std::vector<std::string>& notes_;
};

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

std::string last_part(const std::string& key) { return key.substr(key.rfind('.') + 1); }

// True if `over` chooses something else by `key` than `base` with its default.
bool changes(const Node& base, const Node& over, std::string_view key,
             const std::string& fallback = {}) {
  const std::string before = base.text_at(key, fallback);
  return over.text_at(key, before) != before;
}

// Keys of a component's table that belong to the core, not to the component. Tables of components
// that belong to the old one are not such keys.
bool is_core_key(const std::string& key) {
  for (const TableRules& table : plan_schema()) {
    const bool of_component = table.keys.front().key == "use";
    for (const KeyRule& rule : table.keys)
      if (of_component && rule.key == key && !rule.chooses && !holds_components(rule.type))
        return true;
  }
  return false;
}

// True if `path` is the table `name` of the core's table `table`, in the plan or in a stage.
bool is_table_of_core(std::string_view path, const std::string& table, const std::string& name) {
  const std::string whole = table + "." + name;
  if (table == "stage") {
    return path.starts_with("stage.") && path.ends_with("." + name) &&
           std::ranges::count(path, '.') == 2;
  }
  return path == whole || (path.starts_with("stage.") && path.ends_with("." + whole));
}

// Keys that are in use only with the value that `rule` had.
void drop_dependents(const TableRules& table, const KeyRule& rule, Node& base) {
  for (const KeyRule& other : table.keys) {
    if (other.only_if.starts_with(rule.key + "=")) base.erase(last_part(other.key));
  }
}

void drop_options_of_old_choice(Node& base, const Node& over, const std::string& path) {
  if (changes(base, over, "use")) {
    std::erase_if(std::get<Node::Table>(base.value),
                  [](const Entry& entry) { return !is_core_key(entry.key); });
  }
  for (const TableRules& table : plan_schema()) {
    for (const KeyRule& rule : table.keys) {
      const std::size_t dot = rule.key.rfind('.');
      if (!rule.chooses || dot == std::string::npos) continue;
      const std::string fallback = rule.fallback.substr(1, rule.fallback.size() - 2);  // its quotes
      if (is_table_of_core(path, table.name, rule.key.substr(0, dot)) &&
          changes(base, over, last_part(rule.key), fallback)) {
        drop_dependents(table, rule, base);
      }
    }
  }
}

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
  return std::ranges::find(names, name) != names.end();
}

// True if an element of the plan's list affects a stage, or the plan (null).
bool concerns(const Node& element, const std::string& list, const Node* stage) {
  if (stage == nullptr || list != "dataset") return true;
  const std::string role = element.text_at("role", "train");
  if (role == "retrieval") return true;
  const bool examples = role == "warmup";
  return examples == (stage->text_at("kind") == "sft");
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
    const auto same = std::ranges::find(kept, *name->text());
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
  const std::string name = stage == nullptr ? "" : stage->text_at("name");
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
  if (contains(list_names(false), name) && more.is_list_of_tables()) {
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

std::optional<Node> read_layers(const fs::path& file, const std::vector<fs::path>& over,
                                const std::vector<std::string>& overrides,
                                std::vector<Problem>& problems, std::vector<std::string>& notes) {
  LayerReader reader(problems, notes);
  const auto read = [&](const fs::path& layer) {
    auto named = std::make_shared<Source>();
    named->name = layer.string();
    return reader.read(layer, Origin{std::move(named), 0, 0, 1}, searched_for({}, layer));
  };
  if (!read(file)) return std::nullopt;
  const std::size_t noted = notes.size();
  for (const fs::path& layer : over)
    if (!read(layer)) return std::nullopt;
  notes.resize(noted);
  Node document = std::move(reader).document();
  apply_overrides(document, overrides, problems, notes);
  return document;
}

void merge(Node& base, const Node& over, const std::string& path) {
  if (!base.is_table() || !over.is_table()) {
    base = over;
    return;
  }
  drop_options_of_old_choice(base, over, path);
  base.origin = over.origin;
  for (const Entry& entry : over.entries()) {
    Node* present = base.find(entry.key);
    if (present != nullptr && present->is_table() && entry.value.is_table()) {
      merge(*present, entry.value, joined(path, entry.key));
    } else {
      base.set(entry.key, entry.origin, entry.value);
    }
  }
}

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
  merge(tables, own, wait ? "stage." + stage->text_at("name") : "");
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
    } else if (!addition.value.is_list_of_tables()) {
      problems.push_back({addition.value.origin,
                          "'add." + addition.key + "' must be a list of tables",
                          "write " + header + addition.key + "]]"});
    }
  }
  tables.erase(kAdd);
}

}  // namespace krl::core
