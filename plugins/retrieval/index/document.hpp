// The unit of retrieval: a text with its origin. Plain data.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace krl::retrieval {

struct Document {
  std::string id;    // unique in an index
  std::string task;  // the id of the task that it belongs to; may be empty
  std::string text;  // valid UTF-8
  nlohmann::json metadata = nlohmann::json::object();  // an object; kept, not looked at
  std::string hash;                                    // SHA-256 of the text, 64 hexadecimal digits
};

// Makes a document with its hash. In a text that is not UTF-8, invalid bytes are replaced by
// U+FFFD.
Document make_document(std::string id, std::string task, std::string_view text,
                       nlohmann::json metadata = nlohmann::json::object());

// JSON lines, one for each document in order.
std::string documents_to_json_lines(const std::vector<Document>& documents);

// Reads them back. Throws krl::Failure (KRL_INVALID_ARGUMENT) with file, line and key for a line of
// another form, for a second document of the same id, and for a text that does not have its hash.
// `origin` is the file's name.
std::vector<Document> documents_from_json_lines(std::string_view text, const std::string& origin);

}  // namespace krl::retrieval
