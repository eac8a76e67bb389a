#include "plugins/retrieval/index/document.hpp"

#include <algorithm>
#include <unordered_set>

#include "plugins/files/digest.hpp"
#include "plugins/policies/tokenizer/json_node.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"

namespace krl::retrieval {
namespace {

Document read_line(const std::string& line, const std::string& origin) {
  const nlohmann::json value = policies::parse_json(line, origin);
  const policies::JsonNode node(value, origin);
  node.only({"id", "task", "text", "metadata", "hash"});
  const policies::JsonNode metadata = node.get("metadata"), hash = node.get("hash");
  metadata.object();  // refuses anything else
  Document document{node.get("id").text(), node.get("task").text(), node.get("text").text(),
                    metadata.value(), hash.text()};
  if (document.hash != files::sha256_hex(document.text)) {
    hash.refuse("is not that of the text; the line was changed");
  }
  return document;
}

}  // namespace

Document make_document(std::string id, std::string task, std::string_view text,
                       nlohmann::json metadata) {
  Document document{policies::to_utf8(id), policies::to_utf8(task), policies::to_utf8(text),
                    std::move(metadata), ""};
  document.hash = files::sha256_hex(document.text);
  return document;
}

std::string documents_to_json_lines(const std::vector<Document>& documents) {
  std::string lines;
  for (const Document& document : documents) {
    const nlohmann::ordered_json line = {{"id", document.id},
                                         {"task", document.task},
                                         {"text", document.text},
                                         {"metadata", document.metadata},
                                         {"hash", document.hash}};
    lines += line.dump() + "\n";
  }
  return lines;
}

std::vector<Document> documents_from_json_lines(std::string_view text, const std::string& origin) {
  std::vector<Document> documents;
  std::unordered_set<std::string> ids;
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string place = origin + ":" + std::to_string(++number);
    documents.push_back(read_line(std::string(text.substr(0, end)), place));
    if (!ids.insert(documents.back().id).second) {
      policies::JsonNode(documents.back().id, place)
          .refuse("another document has the id '" + documents.back().id + "'");
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return documents;
}

}  // namespace krl::retrieval
