// kernelrl-emulate FILE: runs kernels as the JSON of a request in the file says, and prints a report in
// JSON on one line: what emulation.hpp describes, or {"error": {"code": …, "message": …}}.
#include <cstdio>
#include <kernelrl/values.hpp>
#include <nlohmann/json.hpp>

#include "plugins/backends/emulate/emulation.hpp"
#include "plugins/files/file.hpp"

namespace {

using Json = nlohmann::ordered_json;

Json error(int code, const char* message) {
  return {{"error", {{"code", code}, {"message", message}}}};
}

Json run(const char* file) {
  try {
    return krl::emulate::emulate(nlohmann::json::parse(krl::files::read_file(file)));
  } catch (const krl::Failure& failure) {
    return error(failure.code(), failure.what());
  } catch (const std::exception& problem) {
    return error(KRL_INTERNAL, problem.what());
  }
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string text = run(words[1]).dump(-1, ' ', false, Json::error_handler_t::replace);
  std::puts(text.c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}
