#include "core/base/log.hpp"

#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

namespace krl {

namespace {

constexpr const char* kName = "kernelrl";  // in spdlog's own, thread-safe list of loggers

// The numbers are the same.
spdlog::level::level_enum level_of(Severity severity) {
  static_assert(static_cast<int>(Severity::kError) == spdlog::level::err);
  return static_cast<spdlog::level::level_enum>(severity);
}

}  // namespace

Status start_log(const std::filesystem::path& file, Severity least) {
  constexpr std::size_t kFileBytes = 8u << 20;
  constexpr std::size_t kOldFiles = 3;
  try {
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), kFileBytes,
                                                                       kOldFiles);
    auto next = std::make_shared<spdlog::logger>(kName, std::move(sink));
    next->set_level(level_of(least));
    next->flush_on(spdlog::level::trace);  // the last lines before a crash are the ones that matter
    next->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
    next->set_error_handler([](const std::string&) {});  // spdlog's own would print
    stop_log();
    spdlog::register_logger(std::move(next));
  } catch (const spdlog::spdlog_ex& error) {
    return failure(Code::kUnavailable, "cannot write " + file.string() + ": " + error.what());
  }
  return {};
}

void stop_log() { spdlog::drop(kName); }

void log(Severity severity, std::string_view message) {
  if (const auto target = spdlog::get(kName)) target->log(level_of(severity), message);
}

}  // namespace krl
