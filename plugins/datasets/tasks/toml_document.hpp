// A TOML file as JSON with the place of every key and value.
//
// The JSON keeps the order of the file, which toml++'s tables lose. Keeps toml++, a heavy header,
// out of everything else.
#pragma once

#include <kernelrl/task_definition.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace krl::tasks {

struct TomlPlace {
  LineColumn key;    // key of a table's member; for an array's element the same as `value`
  LineColumn value;  // for a string, its opening quote
};

struct TomlError {
  LineColumn at;
  std::string message;
};

struct TomlDocument {
  nlohmann::ordered_json json;              // an object
  std::map<std::string, TomlPlace> places;  // keyed by path, "input[0].shape[1]"; the root is ""
};

struct TomlResult {
  TomlDocument document;
  std::optional<TomlError> error;  // then the document is empty
};

// Reads a document from its text. Times and dates, which no task has, become null.
TomlResult parse_toml(const std::string& text);

}  // namespace krl::tasks
