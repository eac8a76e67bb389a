#include "plugins/datasets/tasks/toml_document.hpp"

#include <toml++/toml.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace krl::tasks {
namespace {

using Json = nlohmann::ordered_json;

LineColumn place_of(const toml::source_region& region) {
  return {static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

class Converter {
 public:
  explicit Converter(TomlDocument* document) : document_(document) {}

  void convert(const toml::table& root) {
    document_->places[""] = {{1, 1}, {1, 1}};
    document_->json = convert_table(root, "");
  }

 private:
  Json convert_table(const toml::table& table, const std::string& path) {
    struct Member {
      LineColumn key_place;
      std::string key;
      const toml::node* node;
    };
    std::vector<Member> members;
    for (auto&& [key, node] : table) {
      members.push_back({place_of(key.source()), std::string(key.str()), &node});
    }
    std::sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return std::pair(a.key_place.line, a.key_place.column) <
             std::pair(b.key_place.line, b.key_place.column);
    });
    Json json = Json::object();
    for (const Member& member : members) {
      const std::string at = path.empty() ? member.key : path + "." + member.key;
      document_->places[at] = {member.key_place, place_of(member.node->source())};
      json[member.key] = convert_node(*member.node, at);
    }
    return json;
  }

  Json convert_array(const toml::array& array, const std::string& path) {
    Json json = Json::array();
    for (std::size_t i = 0; i < array.size(); ++i) {
      const std::string at = path + "[" + std::to_string(i) + "]";
      const LineColumn place = place_of(array[i].source());
      document_->places[at] = {place, place};
      json.push_back(convert_node(array[i], at));
    }
    return json;
  }

  Json convert_node(const toml::node& node, const std::string& path) {
    if (const toml::table* table = node.as_table()) return convert_table(*table, path);
    if (const toml::array* array = node.as_array()) return convert_array(*array, path);
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* integer = node.as_integer()) return integer->get();
    if (const auto* number = node.as_floating_point()) return number->get();
    if (const auto* truth = node.as_boolean()) return truth->get();
    return nullptr;
  }

  TomlDocument* document_;
};

}  // namespace

TomlResult parse_toml(const std::string& text) {
  TomlResult result;
  try {
    const toml::table root = toml::parse(text);
    Converter(&result.document).convert(root);
  } catch (const toml::parse_error& error) {
    result.document = {};
    result.error = TomlError{place_of(error.source()), std::string(error.description())};
  }
  return result;
}

}  // namespace krl::tasks
