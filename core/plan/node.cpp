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

}  // namespace

Node Node::table(Origin origin) { return {Table{}, std::move(origin)}; }

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

const Node* Node::find_text(std::string_view dotted) const {
  const Node* node = find_path(dotted);
  return node != nullptr && node->text() != nullptr ? node : nullptr;
}

const Node* Node::find_name() const {
  const Node* name = find_text("name");
  return name == nullptr ? find_text("use") : name;
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

}  // namespace krl
