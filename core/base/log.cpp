#include "core/base/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/rotating_file_sink.h>

#include <memory>
#include <mutex>

namespace krl {

namespace {

std::mutex& logger_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::shared_ptr<spdlog::logger>& logger() {
  static std::shared_ptr<spdlog::logger> instance;
  return instance;
}

std::shared_ptr<spdlog::logger> current_logger() {
  const std::lock_guard lock(logger_mutex());
  return logger();
}

void set_logger(std::shared_ptr<spdlog::logger> next) {
  const std::lock_guard lock(logger_mutex());
  logger() = std::move(next);
}

spdlog::level::level_enum level_of(Severity severity) {
  switch (severity) {
    case Severity::kTrace:
      return spdlog::level::trace;
    case Severity::kDebug:
      return spdlog::level::debug;
    case Severity::kInfo:
      return spdlog::level::info;
    case Severity::kWarning:
      return spdlog::level::warn;
    case Severity::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

Status start_log(const std::filesystem::path& file, Severity least) {
  constexpr std::size_t kFileBytes = 8u << 20;
  constexpr std::size_t kOldFiles = 3;
  try {
    auto sink = std::make_shared<spdlog::sinks::rotating_file_sink_mt>(file.string(), kFileBytes,
                                                                       kOldFiles);
    auto next = std::make_shared<spdlog::logger>("kernelrl", std::move(sink));
    next->set_level(level_of(least));
    next->flush_on(spdlog::level::trace);  // the last lines before a crash are the ones that matter
    next->set_pattern("%Y-%m-%d %H:%M:%S.%e %-7l %v");
    next->set_error_handler([](const std::string&) {});  // spdlog's own would print
    set_logger(std::move(next));
  } catch (const spdlog::spdlog_ex& error) {
    return failure(Code::kUnavailable, "cannot write " + file.string() + ": " + error.what());
  }
  return {};
}

void stop_log() { set_logger(nullptr); }

void log(Severity severity, std::string_view message) {
  if (const auto target = current_logger()) target->log(level_of(severity), message);
}

}  // namespace krl
