#include "service/plugins/new_project.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <kernelrl/spelling.hpp>
#include <map>
#include <regex>
#include <utility>

#include "core/base/file_system.hpp"
#include "core/plan/keys.hpp"

namespace krl::service {
namespace {

namespace fs = std::filesystem;

using Words = std::vector<
    std::pair<std::string, std::string>>;  // placeholders and their words, in this order

std::vector<std::string> folders_in(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    names.push_back(entry.path().filename());
  std::ranges::sort(names);
  return names;
}

Status check_choice(const std::string& what, const std::string& given,
                    const std::vector<std::string>& known) {
  if (std::ranges::find(known, given) != known.end()) return {};
  return invalid(fmt::format("there is no {} '{}'{}", what, given, did_you_mean(given, known)));
}

// "ShortSource" for "short_source".
std::string type_name(const std::string& name) {
  std::string type;
  bool begins = true;
  for (const char c : name) {
    if (c != '_') type += begins ? static_cast<char>(std::toupper(c)) : c;
    begins = c == '_';
  }
  return type;
}

Result<Words> words_of(const NewProject& project) {
  static const std::regex kName("(?:([a-z][a-z0-9_-]*)\\.)?([a-z][a-z0-9_]*)");
  std::smatch parts;
  if (!std::regex_match(project.name, parts, kName))
    return invalid(
        "'" + project.name +
        "' is no name: letters a-z, digits and '_', after a vendor and a dot or without");
  const std::string name = parts[2], vendor = parts[1].matched ? parts[1].str() : "my";
  return Words{{"new_vendor.new_component", vendor + "." + name},
               {"new_component", name},
               {"NewComponent", type_name(name)},
               {"new_kind", project.kind}};
}

std::string filled_in(std::string text, const Words& words) {
  for (const auto& [placeholder, word] : words) {
    for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos;)
      text.replace(at, placeholder.size(), word), at += word.size();
  }
  return text;
}

// The texts of the files below `folder` by their paths within it, filled in.
Status read_templates(const fs::path& folder, const Words& words,
                      std::map<fs::path, std::string>* files) {
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(folder, error)) {
    if (!entry.is_regular_file()) continue;
    KRL_ASSIGN(std::string text, read_file(entry.path()));
    const std::string name = entry.path().lexically_relative(folder).string();
    (*files)[filled_in(name, words)] = filled_in(std::move(text), words);
  }
  return {};
}

}  // namespace

Result<std::vector<fs::path>> write_project(const NewProject& project) {
  const fs::path templates = shared_files() / "templates";
  std::vector<std::string> kinds = folders_in(templates);
  std::erase(kinds, "common");
  KRL_TRY(check_choice("kind", project.kind, kinds));
  const std::vector<std::string> languages = folders_in(templates / project.kind);
  std::string language = project.language;
  if (language.empty()) language = project.kind == "task" ? "toml" : "c++";
  if (std::ranges::find(languages, language) == languages.end())
    return invalid(fmt::format("a {} cannot be begun in '{}': choose {}", project.kind, language,
                               either(languages)));
  KRL_ASSIGN(const Words words, words_of(project));
  std::error_code error;
  if (fs::exists(project.folder, error) && !fs::is_empty(project.folder, error))
    return failure(Code::kFailedPrecondition, project.folder.string() + " is not empty");

  std::map<fs::path, std::string> files;
  for (const fs::path& folder :
       {templates / "common" / language, templates / project.kind / language})
    KRL_TRY(read_templates(folder, words, &files));
  std::vector<fs::path> written;
  for (const auto& [name, text] : files) {
    const fs::path file = project.folder / name;
    fs::create_directories(file.parent_path(), error);
    if (error)
      return failure(Code::kUnavailable,
                     "cannot create " + file.parent_path().string() + ": " + error.message());
    KRL_TRY(write_atomically(real_file_system(), file, text, Durability::kFast));
    written.push_back(file);
  }
  return written;
}

}  // namespace krl::service
