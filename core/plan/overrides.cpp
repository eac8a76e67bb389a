#include "core/plan/overrides.hpp"

#include <algorithm>
#include <charconv>
#include <kernelrl/spelling.hpp>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "core/plan/key_check.hpp"
#include "core/plan/layers.hpp"
#include "core/plan/node.hpp"
#include "core/plan/printer.hpp"
#include "core/plan/schema.hpp"

namespace krl::core {
namespace {

// One part of a dotted key.
struct Segment {
  std::string text;
  Origin origin;
  bool quoted = false;
};

struct Override {
  std::vector<Segment> path;
  Node value;

  // Overrides of a lower rank are applied first.
  int rank() const {
    if (is_addition()) return 1;
    if (value.is_list_of_tables()) return 0;  // others change its elements
    return is_choice() ? 2 : 3;
  }

 private:
  bool is_addition() const { return path.size() > 1 && path[path.size() - 2].text == "add"; }
  bool is_choice() const {
    std::string key;
    for (const Segment& segment : path) key += (key.empty() ? "" : ".") + segment.text;
    return chooses(key);
  }
};

// True for a value that people write without quotes: a word, a path, a date, a name, a condition.
bool is_plain_text(const std::string& text) { return text.find_first_not_of("\"'[{") == 0; }

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

// Returns the end of the segment of a key that starts at `from`: a '.', a '=' or the end.
std::size_t end_of_segment(const std::string& text, std::size_t from) {
  const char quote = from < text.size() ? text[from] : '\0';
  std::size_t end = from;
  if (quote == '"' || quote == '\'') {
    for (++end; end < text.size() && text[end] != quote; ++end) {
      if (quote == '"' && text[end] == '\\') ++end;
    }
  }
  return std::min(text.find_first_of(".=", end), text.size());
}

// The dotted key at the start of an argument, and where its '=' is; on failure `problems` has
// grown.
std::optional<std::pair<std::vector<Segment>, std::size_t>> read_key(
    const std::string& text, const Origin& start, std::vector<Problem>& problems) {
  std::vector<Segment> path;
  const bool has_value = text.find('=') != std::string::npos;
  for (std::size_t from = 0;;) {
    const std::size_t end = end_of_segment(text, from);
    Segment segment{text.substr(from, end - from), start};
    segment.origin.column += static_cast<std::uint32_t>(from);
    segment.origin.length = static_cast<std::uint32_t>(std::max<std::size_t>(1, end - from));
    bool valid = is_bare_key(segment.text);
    if (segment.text.find_first_of("\"'") == 0) {
      const auto unquoted = read_toml_value(segment.text, {});
      segment.quoted = valid = unquoted && unquoted->text() != nullptr;
      if (valid) segment.text = *unquoted->text();
    }
    if (!has_value || !valid || end == text.size() || path.size() >= Node::kMaxDepth) {
      problems.push_back(
          {segment.origin, "this is not of the form KEY=VALUE", "write rollout.groups=4"});
      return std::nullopt;
    }
    path.push_back(std::move(segment));
    if (text[end] == '=') return std::pair(std::move(path), end);
    from = end + 1;
  }
}

// Reads one argument; on failure `problems` has grown.
std::optional<Override> read_override(const std::string& text, const Origin& start,
                                      std::vector<Problem>& problems) {
  auto key = read_key(text, start, problems);
  if (!key) return std::nullopt;
  Override out;
  out.path = std::move(key->first);
  Origin at = start;
  at.column += static_cast<std::uint32_t>(key->second + 1);
  const std::string value = text.substr(key->second + 1);
  at.length = static_cast<std::uint32_t>(std::max<std::size_t>(1, value.size()));
  const bool bare = is_plain_text(value);
  auto node = read_toml_value(value, at);
  if (!node && !bare) {
    problems.push_back(std::move(node.error()));
    return std::nullopt;
  }
  out.value = node ? std::move(*node) : Node{value, at};
  if (bare) out.value.word = value;
  return out;
}

std::string name_of(const Node& element) {
  const Node* name = element.find_name();
  return name == nullptr ? std::string() : *name->text();
}

// An element of a list, and the segments that name it.
struct Found {
  Node* element = nullptr;
  std::size_t segments = 1;
};

// Returns the segments from `first` on, up to `count`, as one dotted name; a quoted segment is a
// name of its own.
std::vector<std::string> dotted_names(const std::vector<Segment>& path, std::size_t first) {
  std::vector<std::string> names = {path[first].text};
  for (std::size_t i = first + 1; i < path.size(); ++i) {
    if (path[i - 1].quoted || path[i].quoted) break;
    names.push_back(names.back() + "." + path[i].text);
  }
  return names;
}

// The element that the segments from `first` on name: by number, or by a name, the longest that
// there is.
Found find_element(Node::Array& list, const std::vector<Segment>& path, std::size_t first) {
  const std::string& word = path[first].text;
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), index);
  if (!path[first].quoted && error == std::errc{} && end == word.data() + word.size()) {
    return {index < list.size() ? &list[index] : nullptr};
  }
  const std::vector<std::string> names = dotted_names(path, first);
  for (std::size_t count = names.size(); count > 0; --count) {
    const auto element = std::ranges::find_if(
        list, [&](const Node& node) { return name_of(node) == names[count - 1]; });
    if (element != list.end()) return {&*element, count};
  }
  return {};
}

// A name as the key of an argument may hold it.
std::string typed(const std::string& name) {
  std::string word = name;
  std::erase(word, '.');
  const bool number = word.find_first_not_of("0123456789") == std::string::npos;
  return is_bare_key(word) && !number ? name : toml_text(Node{name, {}});
}

void report_no_element(const Node::Array& list, const std::vector<Segment>& path, std::size_t first,
                       std::vector<Problem>& problems) {
  std::vector<std::string> names;
  for (const Node& element : list) names.push_back(typed(name_of(element)));
  const std::vector<std::string> tried = dotted_names(path, first);
  std::size_t count = 1;  // segments that look like a name
  for (std::size_t n = tried.size(); n > 1 && count == 1; --n) {
    if (!closest_name(tried[n - 1], names).empty()) count = n;
  }
  const std::string& word = tried[count - 1];
  Origin at = path[first].origin;
  if (count > 1) at.length = static_cast<std::uint32_t>(word.size());
  std::string hint = spelling_hint(word, names, "names");
  if (!list.empty()) hint += "; or its index from 0 to " + std::to_string(list.size() - 1);
  problems.push_back({at, "no element '" + word + "' in this list", std::move(hint)});
}

// The tables that the segments from `first` on name, around the value.
Node nested(const Override& change, std::size_t first, const Origin& origin) {
  Node table = Node::table(origin);
  const Segment& segment = change.path[first];
  const bool last = first + 1 == change.path.size();
  table.set(segment.text, segment.origin,
            last ? change.value : nested(change, first + 1, segment.origin));
  return table;
}

void apply(Node& document, const Override& change, std::vector<Problem>& problems,
           std::vector<std::string>& notes) {
  Node* node = &document;
  bool is_layer = true;  // the node is the plan or a stage, which have lists
  std::string path;
  for (std::size_t i = 0; i < change.path.size();) {
    const Segment& segment = change.path[i];
    if (auto* list = std::get_if<Node::Array>(&node->value)) {
      const Found found = find_element(*list, change.path, i);
      if (found.element == nullptr) return report_no_element(*list, change.path, i, problems);
      i += found.segments;
      if (i == change.path.size()) *found.element = change.value;
      node = found.element;
      is_layer = path == "stage";
      path += "." + name_of(*node);
      continue;
    }
    if (!node->is_table()) {
      problems.push_back({segment.origin,
                          "'" + path + "' is " + std::string(node->kind()) +
                              ", so it has no key '" + segment.text + "'",
                          {}});
      return;
    }
    const bool last = i + 1 == change.path.size();
    if (is_layer && (last || segment.text == "add")) {
      const Node layer = nested(change, i, node->origin);
      return lay(*node, layer, node == &document ? nullptr : node, notes);
    }
    if (last) return merge(*node, nested(change, i, node->origin), path);
    node = &node->child(segment.text, segment.origin);
    is_layer = false;
    path += (path.empty() ? "" : ".") + segment.text;
    ++i;
  }
}

}  // namespace

void apply_overrides(Node& document, const std::vector<std::string>& overrides,
                     std::vector<Problem>& problems, std::vector<std::string>& notes) {
  const auto source = source_of(overrides);
  std::vector<Override> changes;
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const Origin start{source, static_cast<std::uint32_t>(i + 1), 1, 1};
    if (auto change = read_override(overrides[i], start, problems)) {
      changes.push_back(std::move(*change));
    }
  }
  std::ranges::stable_sort(
      changes, [](const Override& a, const Override& b) { return a.rank() < b.rank(); });
  for (const Override& change : changes) apply(document, change, problems, notes);
}

}  // namespace krl::core
