#include "core/run/status.hpp"

#include <nlohmann/json.hpp>

#include "core/base/clock.hpp"

namespace krl {

using Json = nlohmann::ordered_json;

Status write_status(FileSystem& files, const std::filesystem::path& path, const RunStatus& status) {
  const Json json = {{"state", status.state},         {"stage", status.stage},
                     {"iteration", status.iteration}, {"message", status.message},
                     {"process", status.process},     {"started", status.started},
                     {"updated", status.updated},     {"updated_at", iso_time(status.updated)}};
  const std::string text = json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return write_atomically(files, path, text, Durability::kFast);
}

Result<RunStatus> read_status(const std::filesystem::path& path) {
  KRL_ASSIGN(const std::string text, read_file(path));
  try {
    const Json json = Json::parse(text);
    RunStatus status;
    status.state = json.at("state");
    status.stage = json.at("stage");
    status.iteration = json.at("iteration");
    status.message = json.at("message");
    status.process = json.at("process");
    status.started = json.at("started");
    status.updated = json.at("updated");
    return status;
  } catch (const nlohmann::json::exception& error) {
    return invalid("cannot read " + path.string() + ": " + error.what());
  }
}

}  // namespace krl
