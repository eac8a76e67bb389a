// A value in an untrusted JSON document, a file or a server's answer, with its location: every
// access is checked, and errors give the document's name and the key.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace krl::policies {

class JsonNode {
 public:
  // A view of `value`, which the caller keeps. `path` is that of a whole document: its name.
  JsonNode(const nlohmann::json& value, std::string path)
      : value_(&value), path_(std::move(path)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& path() const { return path_; }

  // Throws krl::Failure (KRL_INVALID_ARGUMENT): the path, then `why`.
  [[noreturn]] void refuse(const std::string& why) const;

  bool is_null() const { return value_->is_null(); }

  // Members of an object. An absent one and null are the same to find(); get() refuses both.
  std::optional<JsonNode> find(const std::string& key) const;
  JsonNode get(const std::string& key) const;

  // Refuses an object with other members than these, and any other value.
  void only(std::initializer_list<std::string_view> keys) const;

  // Refuse a value that is no array.
  std::size_t size_of_array() const;
  std::vector<JsonNode> elements() const;

  JsonNode element(std::size_t index) const;
  // Refuses a value that is no object.
  const nlohmann::json::object_t& object() const;

  const std::string& text() const;
  bool boolean() const;
  // A number from 0 to `limit`.
  std::int64_t integer(std::int64_t limit) const;
  double number() const;

  // find(key) and its boolean, or `absent`.
  bool boolean_or(const std::string& key, bool absent) const;

 private:
  const nlohmann::json* value_;
  std::string path_;
};

// The ids of tokens in an array.
std::vector<std::int32_t> read_ids(const JsonNode& array);

// Parses the JSON value in `text`, of a document called `origin`. Throws krl::Failure
// (KRL_INVALID_ARGUMENT) if it is invalid.
nlohmann::json parse_json(const std::string& text, const std::string& origin);

}  // namespace krl::policies
