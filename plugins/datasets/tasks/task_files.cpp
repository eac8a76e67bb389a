#include "plugins/datasets/tasks/task_files.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <system_error>
#include <utility>

#include "plugins/datasets/tasks/toml_document.hpp"

namespace krl::tasks {
namespace {

namespace fs = std::filesystem;

// The text of a file, to show lines of it.
class SourceText {
 public:
  SourceText(std::string name, const std::string& text) : name_(std::move(name)) {
    std::size_t start = 0;
    for (std::size_t end = text.find('\n'); end != std::string::npos;
         end = text.find('\n', start)) {
      lines_.push_back(text.substr(start, end - start));
      start = end + 1;
    }
    lines_.push_back(text.substr(start));
  }

  const std::string& name() const { return name_; }

  // The line from a column on; empty beyond the text.
  std::string from(LineColumn at) const {
    const std::string line =
        at.line >= 1 && at.line <= int(lines_.size()) ? lines_[at.line - 1] : "";
    return at.column >= 1 && at.column <= int(line.size()) ? line.substr(at.column - 1) : "";
  }

  std::string error(LineColumn at, const std::string& message) const {
    const std::string number = std::to_string(at.line);
    std::string report =
        name_ + ":" + number + ":" + std::to_string(at.column) + ": error: " + message;
    if (at.line < 1 || at.line > int(lines_.size()) || lines_[at.line - 1].empty()) return report;
    const std::string gutter = number.size() < 4 ? std::string(4 - number.size(), ' ') : "";
    const std::string caret = "^" + std::string(width(from(at)) - 1, '~');
    report += "\n" + gutter + number + " | " + lines_[at.line - 1];
    report += "\n" + std::string(gutter.size() + number.size(), ' ') + " | " +
              std::string(at.column - 1, ' ') + caret;
    return report;
  }

 private:
  // Returns how many characters of `rest` are underlined: a string with its quotes, a word, or one
  // character.
  static std::size_t width(const std::string& rest) {
    if (!rest.empty() && (rest[0] == '"' || rest[0] == '\'')) {
      const std::size_t close = rest.find(rest[0], 1);
      return close == std::string::npos ? 1 : close + 1;
    }
    const auto is_word = [](unsigned char c) {
      return std::isalnum(c) != 0 || c == '_' || c == '.' || c == '-';
    };
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_word);
    return std::max<std::ptrdiff_t>(1, end - rest.begin());
  }

  std::string name_;
  std::vector<std::string> lines_;
};

// Returns the place of a string value's first character. `value`: its opening quote.
LineColumn text_start(const SourceText& source, LineColumn value) {
  const std::string rest = source.from(value);
  const bool multi_line = rest.rfind("'''", 0) == 0 || rest.rfind("\"\"\"", 0) == 0;
  if (!multi_line) return {value.line, value.column + 1};
  if (rest.size() == 3 || rest == "'''\r" || rest == "\"\"\"\r") return {value.line + 1, 1};
  return {value.line, value.column + 3};
}

// The place of a problem; of the table around it if the path itself is not in the file.
LineColumn place_of(const DefinitionProblem& problem, const TomlDocument& document,
                    const SourceText& source) {
  std::string path = problem.path;
  while (document.places.find(path) == document.places.end()) {
    const std::size_t end = path.find_last_of(".[");
    path.resize(end == std::string::npos ? 0 : end);
  }
  const TomlPlace& place = document.places.at(path);
  if (problem.at_key) return place.key;
  LineColumn at = place.value;
  const std::string rest = source.from(at);
  const bool quoted = !rest.empty() && (rest[0] == '"' || rest[0] == '\'');
  if (problem.offset > 0 && quoted && path == problem.path)
    at.column += 1 + static_cast<int>(problem.offset);
  return at;
}

TaskOrigin origin_of(const SourceText& source, const TomlDocument& document) {
  TaskOrigin origin;
  origin.file = source.name();
  for (const char* key : {"reference", "naive"}) {
    const auto place = document.places.find(key);
    if (place != document.places.end())
      origin.positions[key] = text_start(source, place->second.value);
  }
  for (const char* key : {"ranges", "tolerance"}) {
    const auto place = document.places.find(key);
    if (place != document.places.end()) origin.positions[key] = place->second.value;
  }
  for (const auto& [path, place] : document.places) {
    const bool element = !path.empty() && path.back() == ']' && path.find('.') == std::string::npos;
    if (element && path.rfind("forbid", 0) != 0) origin.positions[path] = place.value;
  }
  return origin;
}

std::vector<fs::path> find_files(const fs::path& path, std::vector<std::string>* errors) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return {path};
  std::vector<fs::path> files;
  fs::recursive_directory_iterator entry(path, code);
  for (; !code && entry != fs::recursive_directory_iterator(); entry.increment(code)) {
    if (entry->path().extension() == ".toml" && entry->is_regular_file(code))
      files.push_back(entry->path());
  }
  if (code) errors->push_back(path.string() + ": error: " + code.message());
  if (!code && files.empty())
    errors->push_back(path.string() + ": error: no *.toml file in this folder");
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

LoadedTasks read_task_text(const std::string& text, const std::string& name) {
  LoadedTasks result;
  const SourceText source(name, text);
  const TomlResult toml = parse_toml(text);
  if (toml.error) {
    result.errors.push_back(source.error(toml.error->at, toml.error->message));
    return result;
  }
  ReadDefinition read = read_task_definition(toml.document.json);
  std::vector<std::pair<LineColumn, std::string>> found;
  for (const DefinitionProblem& problem : read.problems) {
    found.emplace_back(place_of(problem, toml.document, source), problem.message);
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return std::pair(a.first.line, a.first.column) < std::pair(b.first.line, b.first.column);
  });
  for (const auto& [at, message] : found) result.errors.push_back(source.error(at, message));
  if (!read.problems.empty()) return result;
  read.task.origin = origin_of(source, toml.document);
  result.tasks.push_back(std::move(read.task));
  return result;
}

LoadedTasks load_tasks(const fs::path& path) {
  LoadedTasks all;
  std::map<std::string, std::string> file_of_id;
  for (const fs::path& file : find_files(path, &all.errors)) {
    std::ifstream stream(file, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    if (!stream.good() && !stream.eof()) {
      all.errors.push_back(file.string() + ": error: cannot read the file");
      continue;
    }
    LoadedTasks one = read_task_text(text, file.string());
    all.errors.insert(all.errors.end(), one.errors.begin(), one.errors.end());
    for (TaskDefinition& task : one.tasks) {
      const auto [first, is_new] = file_of_id.emplace(task.id, file.string());
      if (is_new) {
        all.tasks.push_back(std::move(task));
      } else {
        all.errors.push_back(file.string() + ": error: the id '" + task.id + "' is taken by " +
                             first->second);
      }
    }
  }
  return all;
}

}  // namespace krl::tasks
