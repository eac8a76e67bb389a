#include "plugins/policies/tokenizer/json_node.hpp"

#include <algorithm>
#include <kernelrl/values.hpp>
#include <limits>

namespace krl::policies {

void JsonNode::refuse(const std::string& why) const { invalid_argument(path_ + ": " + why); }

std::optional<JsonNode> JsonNode::find(const std::string& key) const {
  const auto found = object().find(key);
  if (found == object().end() || found->second.is_null()) return std::nullopt;
  return JsonNode(found->second, path_ + "." + key);
}

JsonNode JsonNode::get(const std::string& key) const {
  const auto node = find(key);
  if (!node) refuse("'" + key + "' is missing");
  return *node;
}

void JsonNode::only(std::initializer_list<std::string_view> keys) const {
  for (const auto& [key, value] : object()) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      refuse("'" + key + "' is not supported");
    }
  }
}

std::size_t JsonNode::size_of_array() const {
  if (!value_->is_array()) refuse("must be an array");
  return value_->size();
}

std::vector<JsonNode> JsonNode::elements() const {
  std::vector<JsonNode> all;
  for (std::size_t i = 0; i < size_of_array(); ++i) all.push_back(element(i));
  return all;
}

JsonNode JsonNode::element(std::size_t index) const {
  return {value_->at(index), path_ + "[" + std::to_string(index) + "]"};
}

const nlohmann::json::object_t& JsonNode::object() const {
  if (!value_->is_object()) refuse("must be an object");
  return value_->get_ref<const nlohmann::json::object_t&>();
}

const std::string& JsonNode::text() const {
  if (!value_->is_string()) refuse("must be a text");
  return value_->get_ref<const std::string&>();
}

bool JsonNode::boolean() const {
  if (!value_->is_boolean()) refuse("must be true or false");
  return value_->get<bool>();
}

std::int64_t JsonNode::integer(std::int64_t limit) const {
  if (!value_->is_number_unsigned() ||
      value_->get<std::uint64_t>() > static_cast<std::uint64_t>(limit)) {
    refuse("must be a whole number from 0 to " + std::to_string(limit));
  }
  return value_->get<std::int64_t>();
}

double JsonNode::number() const {
  if (!value_->is_number()) refuse("must be a number");
  return value_->get<double>();
}

bool JsonNode::boolean_or(const std::string& key, bool absent) const {
  const auto node = find(key);
  return node ? node->boolean() : absent;
}

std::vector<std::int32_t> read_ids(const JsonNode& array) {
  std::vector<std::int32_t> ids;
  const std::size_t size = array.size_of_array();
  ids.reserve(size);
  for (std::size_t i = 0; i < size; ++i) {
    ids.push_back(static_cast<std::int32_t>(
        array.element(i).integer(std::numeric_limits<std::int32_t>::max())));
  }
  return ids;
}

nlohmann::json parse_json(const std::string& text, const std::string& origin) {
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    invalid_argument(origin + ": not valid JSON: " + error.what());
  }
}

}  // namespace krl::policies
