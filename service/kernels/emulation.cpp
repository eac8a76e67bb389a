#include "service/kernels/emulation.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <kernelrl/temporary_folder.hpp>

#include "core/base/file_system.hpp"

namespace krl::service {
namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Result<Json> emulate(const Json& request, ChildOptions child) try {
  const TemporaryFolder folder("kernelrl-emulate");
  const fs::path input = folder.path() / "request.json", output = folder.path() / "report.json";
  // Names in files may have bytes that are no UTF-8.
  KRL_TRY(write_atomically(real_file_system(), input,
                           request.dump(-1, ' ', false, Json::error_handler_t::replace),
                           Durability::kFast));
  child.output = ::open(output.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (child.output < 0) return failure(Code::kUnavailable, "cannot write " + output.string());
  const Result<int> code =
      run_program({installed_program("kernelrl-emulate"), input.string()}, child);
  ::close(child.output);
  if (!code) return failure(code.error());
  KRL_ASSIGN(const std::string text, read_file(output));
  Json report = Json::parse(text, nullptr, false);
  if (report.is_discarded())
    return failure(Code::kInternal, "kernelrl-emulate ended with code " + std::to_string(*code) +
                                        " without a report");
  if (!report.contains("error")) return report;
  return failure(
      static_cast<Code>(report["error"].value("code", static_cast<int>(Code::kInternal))),
      report["error"].value("message", ""));
} catch (const Failure& failed) {  // there is no temporary folder
  return failure(Code::kUnavailable, failed.what());
}

}  // namespace krl::service
