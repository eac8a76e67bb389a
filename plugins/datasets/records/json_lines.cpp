#include <fstream>
#include <kernelrl/values.hpp>

#include "plugins/datasets/records/record_file.hpp"

namespace krl::records {
namespace {

// Python writes NaN, Infinity and -Infinity, which are not JSON: they are read as null.
std::string without_python_numbers(const std::string& line) {
  std::string json;
  bool in_text = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (in_text && line[i] == '\\') {
      json += line.substr(i++, 2);
      continue;
    }
    in_text ^= line[i] == '"';
    std::string_view found;
    for (const std::string_view word : {"NaN", "-Infinity", "Infinity"}) {
      if (!in_text && line.compare(i, word.size(), word) == 0) found = word;
    }
    json += found.empty() ? std::string(1, line[i]) : "null";
    if (!found.empty()) i += found.size() - 1;
  }
  return json;
}

nlohmann::json read_line(const std::string& line) {
  auto record = nlohmann::json::parse(line, nullptr, false);
  if (!record.is_discarded()) return record;
  return nlohmann::json::parse(without_python_numbers(line), nullptr, false);
}

class JsonLines final : public RecordFile {
 public:
  explicit JsonLines(const std::filesystem::path& file)
      : name_(file.string()), in_(file, std::ios::binary) {
    // A folder opens, but cannot be read.
    if (!in_ || (in_.peek(), in_.bad()))
      throw Failure(KRL_INVALID_ARGUMENT, name_ + ": cannot be read");
  }

  std::vector<std::string> columns() const override { return {}; }

  // Each record is parsed as a whole anyway, and kept as that.
  void scan(const std::set<std::string>&, const Visit& visit, const Complain& complain) override {
    in_.clear();
    in_.seekg(0);
    std::uint64_t position = 0, number = 0;
    for (std::string line; std::getline(in_, line);) {
      ++number;
      if (line.find_first_not_of(" \t\r") != line.npos) {
        const auto record = read_line(line);
        if (record.is_object()) {
          visit(position, record);
        } else {
          complain(name_ + ":" + std::to_string(number) + ": not a JSON object");
        }
      }
      position += line.size() + 1;
    }
    if (in_.bad()) complain(name_ + ": cannot be read beyond line " + std::to_string(number));
  }

  nlohmann::json read(std::uint64_t position) override {
    if (in_.clear(); static_cast<std::uint64_t>(in_.tellg()) != position)
      in_.seekg(static_cast<std::streamoff>(position));
    std::string line;
    std::getline(in_, line);
    auto record = read_line(line);
    if (!record.is_object()) {
      throw Failure(KRL_UNAVAILABLE, name_ + " at byte " + std::to_string(position) +
                                         ": no longer a JSON object; was the file changed?");
    }
    return record;
  }

 private:
  std::string name_;
  std::ifstream in_;
};

}  // namespace

std::unique_ptr<RecordFile> open_json_lines(const std::filesystem::path& file) {
  return std::make_unique<JsonLines>(file);
}

}  // namespace krl::records
