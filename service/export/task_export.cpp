#include "service/export/task_export.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "core/base/file_system.hpp"
#include "core/episode/prompt.hpp"
#include "core/run/best.hpp"
#include "service/export/task_file.hpp"

namespace krl::service {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

const std::vector<std::string> kTemplateNames = {
    "version", "id",         "package",          "title", "tier", "prompt",
    "naive",   "definition", "shown_definition", "rows",  "first"};

std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

// The last part of a package's name, which allows fewer characters than ids and files have.
std::string package_of(const std::string& id) {
  std::string name = file_name_of_task(id);
  std::replace(name.begin(), name.end(), '%', '-');
  return (std::isalnum(static_cast<unsigned char>(name.front())) != 0 ? "" : "task") + name;
}

Json definition_of(const Task& task) {
  Json definition = Json::parse(task.definition_json);
  definition.erase("origin");
  return definition;
}

// The definition without what the judge keeps for itself.
Json shown_definition_of(const Task& task) {
  Json definition = definition_of(task);
  definition.erase("holdout");
  definition.erase("ranges");  // the pool of fresh shapes is drawn from them
  return definition;
}

Json row_of(const Task& task, const std::string& prompt) {
  return {{"responses_create_params",
           {{"input", Json::array({{{"role", "user"}, {"content", prompt}}})}}},
          {"verifier_metadata", {{"task", task.id}}}};
}

Template::Values values_of(const Task& task, const std::string& prompt) {
  return {{"version", KERNELRL_VERSION},
          {"id", task.id},
          {"package", package_of(task.id)},
          {"title", dump(task.title)},
          {"tier", std::to_string(task.tier)},
          {"prompt", prompt},
          {"naive", task.facts.naive},
          {"definition", task_file_text(definition_of(task))},
          {"shown_definition", task_file_text(shown_definition_of(task))},
          {"rows", dump(row_of(task, prompt)) + "\n"},
          {"first", task.id}};
}

Status write(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  if (error) return invalid(file.parent_path().string() + ": cannot be made: " + error.message());
  KRL_TRY(write_atomically(real_file_system(), file, text, Durability::kFast));
  if (file.extension() != ".sh") return {};
  constexpr fs::perms kRun = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
  fs::permissions(file, kRun, fs::perm_options::add, error);
  return {};
}

// Writes every template of `from` to the same place below `to`. A file that shows the naive kernel
// is left out if there is none.
Status write_templates(const std::string& from, const Template::Values& values,
                       const fs::path& to) {
  const fs::path root = shared_files() / "export" / from;
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(root, error)) {
    if (!entry.is_regular_file(error)) continue;
    KRL_ASSIGN(const Template file, Template::read(entry.path(), kTemplateNames));
    if (file.uses("naive") && values.at("naive").empty()) continue;
    KRL_TRY(write(to / entry.path().lexically_relative(root), file.render(values)));
  }
  if (!error) return {};
  return failure(Code::kNotFound, root.string() + ": " + error.message());
}

}  // namespace

const std::vector<std::string>& export_formats() {
  static const std::vector<std::string> kFormats = {"harbor", "nemo-gym", "openenv"};
  return kFormats;
}

Status export_tasks(const std::vector<Task>& tasks, const std::string& format,
                    const fs::path& folder) {
  KRL_ASSIGN(const PromptBuilder prompts, PromptBuilder::load({}, ""));
  Template::Values all;
  std::string rows;
  for (Task task : tasks) {
    KRL_ASSIGN(task.facts, facts_of(task));
    const Template::Values values = values_of(task, prompts.build(task, {}).front().text);
    if (all.empty()) all = values;
    rows += values.at("rows");
    const std::string name = file_name_of_task(task.id);
    if (format == "harbor") {
      KRL_TRY(write_templates(format, values, folder / name));
    } else {
      KRL_TRY(write(folder / "tasks" / (name + ".toml"), values.at("definition")));
    }
  }
  all["rows"] = rows;
  if (format != "harbor") KRL_TRY(write_templates(format, all, folder));
  return write_templates("image", all, folder / "image");
}

}  // namespace krl::service
