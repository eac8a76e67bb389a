#include "plugins/policies/tinker/checkpoint.hpp"

#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "plugins/files/file.hpp"

namespace krl::tinker {
namespace {

using nlohmann::json;

constexpr const char* kFile = "tinker.json";
constexpr int kFormat = 1;

}  // namespace

void write_checkpoint(const std::filesystem::path& directory, const Checkpoint& checkpoint) {
  const json contents = {{"format", kFormat},
                         {"path", checkpoint.path},
                         {"base_model", checkpoint.base_model},
                         {"lora_rank", checkpoint.lora_rank},
                         {"version", checkpoint.version}};
  files::write_file(directory / kFile, {contents.dump(2), "\n"});
  files::sync_directory(directory);
}

Checkpoint read_checkpoint(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / kFile;
  const json contents = json::parse(files::read_file(file), nullptr, /*allow_exceptions=*/false);
  try {
    if (contents.at("format") != kFormat) {
      invalid_argument(file.string() + " has format " + contents["format"].dump() +
                       "; this version reads " + std::to_string(kFormat));
    }
    return {contents.at("path"), contents.at("base_model"), contents.at("lora_rank"),
            contents.at("version")};
  } catch (const json::exception& error) {
    invalid_argument(file.string() + " is damaged: " + error.what());
  }
}

}  // namespace krl::tinker
