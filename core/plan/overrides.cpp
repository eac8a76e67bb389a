#include "core/plan/overrides.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <memory>
#include <optional>

#include "core/plan/key_check.hpp"
#include "core/plan/merge.hpp"
#include "core/plan/toml_reader.hpp"

namespace krl {
namespace {

struct Segment {
  std::string text;
  Origin origin;
};

struct Override {
  std::vector<Segment> path;
  Node value;

  bool is_choice() const {
    const std::string& key = path.back().text;
    return key == "use" || key == "schedule" ||
           (key == "name" && path.size() > 1 && path[path.size() - 2].text == "loss");
  }
};

// A value that people write without quotes: a word or a path.
bool is_bare_word(std::string_view text) {
  if (text.empty() || text == "true" || text == "false" || text == "inf" || text == "nan") {
    return false;
  }
  const char first = text.front();
  const bool number = (first >= '0' && first <= '9') || first == '-';
  std::string word(text);
  std::erase_if(word, [](char c) { return c == '/' || c == '.' || c == ':'; });
  return !number && (word.empty() || is_bare_key(word));
}

// All arguments as one text, argument n on line n.
std::shared_ptr<const Source> source_of(const std::vector<std::string>& overrides) {
  auto source = std::make_shared<Source>();
  source->name = "--set";
  std::error_code ignored;
  source->folder = std::filesystem::current_path(ignored);
  source->order = std::numeric_limits<std::size_t>::max();
  for (std::string line : overrides) {
    std::replace(line.begin(), line.end(), '\n', ' ');
    source->text += line + "\n";
  }
  return source;
}

// Reads one argument; on failure `problems` has grown.
std::optional<Override> read_override(const std::string& text, const Origin& start,
                                      std::vector<Problem>& problems) {
  const std::size_t equals = text.find('=');
  const std::string key = text.substr(0, equals);
  Override out;
  for (std::size_t from = 0;;) {
    const std::size_t dot = std::min(key.find('.', from), key.size());
    Segment segment{key.substr(from, dot - from), start};
    segment.origin.column += static_cast<std::uint32_t>(from);
    segment.origin.length = static_cast<std::uint32_t>(std::max<std::size_t>(1, dot - from));
    if (equals == std::string::npos || !is_bare_key(segment.text) ||
        out.path.size() >= Node::kMaxDepth) {
      problems.push_back({segment.origin, "this is not KEY=VALUE", "write --set rollout.groups=4"});
      return std::nullopt;
    }
    out.path.push_back(std::move(segment));
    if (dot == key.size()) break;
    from = dot + 1;
  }
  Origin at = start;
  at.column += static_cast<std::uint32_t>(equals + 1);
  const std::string value = text.substr(equals + 1);
  at.length = static_cast<std::uint32_t>(std::max<std::size_t>(1, value.size()));
  if (is_bare_word(value)) {
    out.value = {value, at};
    return out;
  }
  auto node = read_toml_value(value, at);
  if (!node) {
    problems.push_back(std::move(node.error()));
    return std::nullopt;
  }
  out.value = std::move(*node);
  return out;
}

std::string name_of(const Node& element) {
  const Node* name = element.find_name();
  return name == nullptr ? std::string() : *name->text();
}

// The element of a list that a segment names: by number, or by name.
Node* find_element(Node::Array& list, const std::string& name) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error == std::errc{} && end == name.data() + name.size()) {
    return index < list.size() ? &list[index] : nullptr;
  }
  const auto element = std::find_if(list.begin(), list.end(),
                                    [&](const Node& node) { return name_of(node) == name; });
  return element == list.end() ? nullptr : &*element;
}

void report_no_element(const Node::Array& list, const Segment& segment,
                       std::vector<Problem>& problems) {
  std::vector<std::string> names;
  for (const Node& element : list) names.push_back(name_of(element));
  problems.push_back({segment.origin, "no element '" + segment.text + "' in this list",
                      spelling_hint(segment.text, names, "names") + "; or its number from 0 to " +
                          std::to_string(list.size() - 1)});
}

void apply(Node& document, const Override& change, std::vector<Problem>& problems) {
  Node* node = &document;
  std::string path;
  for (const Segment& segment : change.path) {
    const bool last = &segment == &change.path.back();
    if (auto* list = std::get_if<Node::Array>(&node->value)) {
      Node* element = find_element(*list, segment.text);
      if (element == nullptr) return report_no_element(*list, segment, problems);
      if (last) *element = change.value;
      node = element;
      continue;
    }
    if (!node->is_table()) {
      problems.push_back({segment.origin,
                          "'" + path + "' is " + std::string(node->kind()) +
                              ", so it has no key '" + segment.text + "'",
                          {}});
      return;
    }
    if (last) {
      Node over = Node::table(node->origin);
      over.set(segment.text, segment.origin, change.value);
      merge(*node, over, path);
    } else {
      node = &node->child(segment.text, segment.origin);
    }
    path += (path.empty() ? "" : ".") + segment.text;
  }
}

}  // namespace

void apply_overrides(Node& document, const std::vector<std::string>& overrides,
                     std::vector<Problem>& problems) {
  const auto source = source_of(overrides);
  std::vector<Override> changes;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const Origin start{source, static_cast<std::uint32_t>(i + 1), 1, 1};
    if (auto change = read_override(overrides[i], start, problems)) {
      changes.push_back(std::move(*change));
    }
  }
  std::stable_partition(changes.begin(), changes.end(),
                        [](const Override& change) { return change.is_choice(); });
  for (const Override& change : changes) apply(document, change, problems);
}

}  // namespace krl
