#include "core/plan/node.hpp"

#define TOML_MAX_NESTED_VALUES 64
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace krl::core {
namespace {

template <class Table>
auto find_entry(Table& table, std::string_view key) {
  return std::ranges::find_if(table, [key](const Entry& entry) { return entry.key == key; });
}

// The library destroys nested tables recursively, and dotted keys nest without its own limit. A
// plan is read on any thread's stack, so the dots bound the depth (5,000 were safe under ASan).
constexpr std::ptrdiff_t kMaxDots = 5000;

// Tables are searched from the front, so their number is bounded as well.
constexpr int kMaxValues = 10000;

constexpr const char* kValueKey = "v = ";
constexpr std::uint32_t kValueColumn = 5;

tl::unexpected<Problem> wrong(const Origin& at, std::string message) {
  return tl::unexpected(Problem{at, std::move(message), {}});
}

// Converts one parsed document; the first problem ends the conversion.
class Converter {
 public:
  Converter(std::shared_ptr<const Source> source, Origin shift)
      : source_(std::move(source)), shift_(std::move(shift)) {}

  tl::expected<Node, Problem> convert(const toml::node& node, int depth) {
    Node out;
    out.origin = origin(node.source());
    if (depth > Node::kMaxDepth) {
      return wrong(out.origin, "values are nested more than " + std::to_string(Node::kMaxDepth) +
                                   " levels deep");
    }
    if (++values_ > kMaxValues) {
      return wrong(out.origin,
                   "this is not a plan: more than " + std::to_string(kMaxValues) + " values");
    }
    if (const auto* table = node.as_table()) return convert_table(*table, std::move(out), depth);
    if (const auto* array = node.as_array()) return convert_array(*array, std::move(out), depth);
    if (const auto* flag = node.as_boolean()) {
      out.value = flag->get();
    } else if (const auto* integer = node.as_integer()) {
      out.value = integer->get();
    } else if (const auto* real = node.as_floating_point()) {
      out.value = real->get();
    } else if (const auto* text = node.as_string()) {
      out.value = text->get();
    } else {
      return wrong(out.origin,
                   "a plan cannot contain dates or times; quote the value if it is a string");
    }
    return out;
  }

  Origin origin(const toml::source_region& region) const {
    if (source_ == nullptr) return {};
    Origin at{source_, region.begin.line, region.begin.column, 1};
    if (region.end.line == region.begin.line && region.end.column > region.begin.column) {
      at.length = region.end.column - region.begin.column;
    }
    if (shift_.line == 0) return at;
    const bool first_line = at.line <= 1 && at.column >= kValueColumn;
    at.column = first_line ? at.column - kValueColumn + shift_.column : shift_.column;
    at.line = shift_.line;
    return at;
  }

 private:
  tl::expected<Node, Problem> convert_table(const toml::table& table, Node out, int depth) {
    Node::Table entries;
    for (const auto& [key, value] : table) {
      auto converted = convert(value, depth + 1);
      if (!converted) return converted;
      entries.push_back({std::string(key.str()), origin(key.source()), std::move(*converted)});
    }
    // The library sorts by name; people read in the order they wrote.
    std::ranges::stable_sort(entries, [](const Entry& a, const Entry& b) {
      return std::pair(a.origin.line, a.origin.column) < std::pair(b.origin.line, b.origin.column);
    });
    out.value = std::move(entries);
    return out;
  }

  tl::expected<Node, Problem> convert_array(const toml::array& array, Node out, int depth) {
    Node::Array elements;
    for (const toml::node& element : array) {
      auto converted = convert(element, depth + 1);
      if (!converted) return converted;
      elements.push_back(std::move(*converted));
    }
    out.value = std::move(elements);
    return out;
  }

  std::shared_ptr<const Source> source_;
  Origin shift_;  // start of a lone value in its source; line 0 for a whole document
  int values_ = 0;
};

// The library's message in words that help.
std::string explained(std::string_view why) {
  if (const auto colon = why.find(": "); why.starts_with("Error while parsing ")) {
    why = why.substr(colon == std::string::npos ? 0 : colon + 2);
  }
  if (why.starts_with("unescaped control characters")) {
    return "a string must end on the same line and contain no control characters; use \"\"\" for longer text";
  }
  return std::string(why);
}

tl::expected<Node, Problem> parse(const std::string& text, Converter converter) {
  if (std::ranges::count(text, '.') > kMaxDots) {
    Origin whole = converter.origin({});
    whole.line = 0;
    return wrong(whole, "this is not a plan: more than 5000 dots");
  }
  try {
    const toml::table table = toml::parse(std::string_view(text));
    return converter.convert(table, 0);
  } catch (const toml::parse_error& e) {
    return wrong(converter.origin(e.source()), "this is not TOML: " + explained(e.description()));
  }
}

}  // namespace

Node Node::table(Origin origin) { return {Table{}, std::move(origin)}; }

bool Node::is_list_of_tables() const {
  return is_array() && std::ranges::all_of(elements(), &Node::is_table);
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

const Node* Node::find_text(std::string_view dotted) const {
  const Node* node = find_path(dotted);
  return node != nullptr && node->text() != nullptr ? node : nullptr;
}

std::string Node::text_at(std::string_view dotted, std::string otherwise) const {
  const Node* node = find_text(dotted);
  return node == nullptr ? std::move(otherwise) : *node->text();
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

tl::expected<Node, Problem> read_toml(const std::shared_ptr<const Source>& source) {
  return parse(source->text, Converter(source, {}));
}

tl::expected<Node, Problem> read_toml_value(const std::string& text, const Origin& at) {
  auto table = parse(kValueKey + text, Converter(at.source, at));
  if (!table) return table;
  const Node::Table& entries = table->entries();
  if (entries.size() != 1) {
    return wrong(at, "expected a single value, not several lines");
  }
  return entries.front().value;
}

bool is_bare_key(std::string_view key) {
  const auto is_bare = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; };
  return !key.empty() && std::ranges::all_of(key, is_bare);
}

}  // namespace krl::core
