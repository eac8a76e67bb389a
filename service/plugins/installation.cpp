#include "service/plugins/installation.hpp"

#include <algorithm>

#include "core/plugin/registry.hpp"

namespace krl::service {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> plugins_in(const fs::path& from) {
  if (!fs::is_directory(from)) return {from};
  std::vector<fs::path> files;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(from, ignored)) {
    if (entry.path().string().ends_with(".krl.so")) files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

Status copy_whole(const fs::path& from, const fs::path& to) {
  const fs::path part = to.string() + ".part";
  std::error_code error;
  fs::copy_file(from, part, fs::copy_options::overwrite_existing, error);
  if (!error) fs::rename(part, to, error);
  if (error)
    return failure(Code::kUnavailable,
                   "cannot copy " + from.string() + " to " + to.string() + ": " + error.message());
  return {};
}

}  // namespace

Result<std::vector<fs::path>> install_plugins(const fs::path& from) {
  const std::vector<fs::path> files = plugins_in(from);
  if (files.empty())
    return failure(Code::kNotFound, from.string() + " holds no *.krl.so: build the plugin first");
  for (const fs::path& file : files) {
    if (!file.string().ends_with(".krl.so"))
      return invalid(file.string() + " is not called NAME.krl.so, by which plugins are found");
    const Registry alone = Registry::load_file(file);
    if (!alone.rejected().empty())
      return invalid(file.string() +
                     " is not a plugin that can be used: " + alone.rejected().front().why);
  }
  KRL_ASSIGN(const fs::path folder, users_plugins());
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    return failure(Code::kUnavailable, "cannot create " + folder.string() + ": " + error.message());
  std::vector<fs::path> copies;
  for (const fs::path& file : files) {
    copies.push_back(folder / file.filename());
    KRL_TRY(copy_whole(file, copies.back()));
  }
  return copies;
}

}  // namespace krl::service
