#include "core/plan/node.hpp"

#include <algorithm>
#include <array>

namespace krl {
namespace {

template <class Table>
auto find_entry(Table& table, std::string_view key) {
  return std::find_if(table.begin(), table.end(),
                      [key](const Entry& entry) { return entry.key == key; });
}

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

bool changes(const Node& base, const Node& over, std::string_view key) {
  const Node* before = base.find(key);
  const Node* after = over.find(key);
  return before != nullptr && after != nullptr && before->text() != nullptr &&
         after->text() != nullptr && *before->text() != *after->text();
}

// Keys of a component's table that belong to the core, not to the component.
bool is_core_key(const std::string& key) {
  static constexpr std::array<std::string_view, 4> kKeys = {"name", "role", "weight", "when"};
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

// Whether `path` is the table `name` of the plan or of a stage, and not of a component's options.
bool is_table_of_core(std::string_view path, std::string_view name) {
  const bool core = path.starts_with("learn") || path.starts_with("stage");
  return core && path.ends_with(name);
}

void drop_options_of_old_choice(Node& base, const Node& over, const std::string& path) {
  auto& table = std::get<Node::Table>(base.value);
  if (is_table_of_core(path, "learn.loss") && changes(base, over, "name")) table.clear();
  if (is_table_of_core(path, "optimizer") && changes(base, over, "schedule")) base.erase("min_lr");
  if (changes(base, over, "use")) {
    std::erase_if(table, [](const Entry& entry) { return !is_core_key(entry.key); });
  }
}

}  // namespace

Node Node::table(Origin origin) {
  Node node;
  node.value = Table{};
  node.origin = std::move(origin);
  return node;
}

const Node* Node::find(std::string_view key) const {
  const auto* table = std::get_if<Table>(&value);
  if (table == nullptr) return nullptr;
  const auto entry = find_entry(*table, key);
  return entry == table->end() ? nullptr : &entry->value;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

const Node* Node::find_path(std::string_view dotted) const {
  const std::size_t dot = dotted.find('.');
  const Node* first = find(dotted.substr(0, dot));
  if (first == nullptr || dot == std::string_view::npos) return first;
  return first->find_path(dotted.substr(dot + 1));
}

void Node::set(std::string key, Origin key_origin, Node node) {
  auto& table = std::get<Table>(value);
  const auto entry = find_entry(table, key);
  if (entry == table.end()) {
    table.push_back({std::move(key), std::move(key_origin), std::move(node)});
  } else {
    entry->origin = std::move(key_origin);
    entry->value = std::move(node);
  }
}

Node& Node::child(std::string_view key, const Origin& origin) {
  if (find(key) == nullptr) set(std::string(key), origin, Node::table(origin));
  return *find(key);
}

void Node::erase(std::string_view key) {
  std::erase_if(std::get<Table>(value), [key](const Entry& entry) { return entry.key == key; });
}

const Node::Array& Node::elements() const {
  static const Array kNone;
  const auto* array = std::get_if<Array>(&value);
  return array == nullptr ? kNone : *array;
}

const Node::Table& Node::entries() const {
  static const Table kNone;
  const auto* table = std::get_if<Table>(&value);
  return table == nullptr ? kNone : *table;
}

std::string_view Node::kind() const {
  static constexpr std::array<std::string_view, 6> kKinds = {
      "a boolean", "an integer", "a number with a fraction", "a string", "an array", "a table"};
  return kKinds[value.index()];
}

nlohmann::json Node::json() const {
  if (const auto* array = std::get_if<Array>(&value)) {
    nlohmann::json list = nlohmann::json::array();
    for (const Node& element : *array) list.push_back(element.json());
    return list;
  }
  if (const auto* table = std::get_if<Table>(&value)) {
    nlohmann::json object = nlohmann::json::object();
    for (const Entry& entry : *table) object[entry.key] = entry.value.json();
    return object;
  }
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return *text();
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

}  // namespace krl
