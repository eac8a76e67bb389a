#include "core/base/log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/rotating_file_sink.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <climits>
#include <ctime>
#include <memory>
#include <mutex>

#include "core/base/text.hpp"

namespace krl::core {

namespace {

constexpr const char* kName = "kernelrl";  // key in spdlog's own, thread-safe list of loggers

// The data that log_last_words needs.
struct LogFile {
  std::mutex mutex;
  std::array<char, PATH_MAX> path{};  // empty: none is open
  std::chrono::seconds utc_offset{0};
};
constinit LogFile g_log;

void remember(std::string_view path) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::lock_guard lock(g_log.mutex);
  g_log.path.at(path.copy(g_log.path.data(), g_log.path.size() - 1)) = '\0';
  g_log.utc_offset = std::chrono::seconds(local.tm_gmtoff);
}

// The beginning of a record, as the pattern in start_log has it. Allocates nothing and needs little
// of the stack.
void add_head(FixedText& text) {
  using namespace std::chrono;
  const auto now = floor<milliseconds>(system_clock::now()) + g_log.utc_offset;
  const year_month_day date(floor<days>(now));
  const hh_mm_ss time(now - floor<days>(now));
  const auto add = [&text](auto number, std::size_t width, std::string_view after) {
    text.add(static_cast<std::uint64_t>(number), 10, width).add(after);
  };
  add(static_cast<int>(date.year()), 4, "-");
  add(static_cast<unsigned>(date.month()), 2, "-");
  add(static_cast<unsigned>(date.day()), 2, " ");
  add(time.hours().count(), 2, ":");
  add(time.minutes().count(), 2, ":");
  add(time.seconds().count(), 2, ".");
  add(time.subseconds().count(), 3, " error   ");
}

// The numbers are the same.
spdlog::level::level_enum level_of(Severity severity) {
  static_assert(static_cast<int>(Severity::kError) == spdlog::level::err);
  return static_cast<spdlog::level::level_enum>(severity);
}

// A stranger's text may not look like several records.
std::string record_of(std::string_view message) {
  constexpr std::size_t kMostBytes = 16u << 10;
  std::string record = one_line(message.substr(0, kMostBytes));
  if (message.size() > kMostBytes) record += fmt::format(" … ({} bytes in all)", message.size());
  return record;
}

void write_held(spdlog::logger& to) {
  const auto held = spdlog::get(kName);
  if (held == nullptr) return;
  const auto ring =
      std::dynamic_pointer_cast<spdlog::sinks::ringbuffer_sink_mt>(held->sinks().front());
  if (ring == nullptr) return;
  for (const auto& message : ring->last_raw()) {
    if (to.should_log(message.level)) to.sinks().front()->log(message);
  }
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
    write_held(*next);
    stop_log();
    spdlog::register_logger(std::move(next));
  } catch (const spdlog::spdlog_ex& error) {
    return failure(Code::kUnavailable, "cannot write " + file.string() + ": " + error.what());
  }
  std::error_code ignored;
  remember(std::filesystem::absolute(file, ignored).native());
  return {};
}

void hold_log() {
  constexpr std::size_t kMostHeld = 1000;
  stop_log();
  spdlog::register_logger(std::make_shared<spdlog::logger>(
      kName, std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kMostHeld)));
}

void stop_log() {
  remember({});
  spdlog::drop(kName);
}

void log(Severity severity, std::string_view message) {
  if (const auto target = spdlog::get(kName)) target->log(level_of(severity), record_of(message));
}

void log_lines(Severity severity, std::string_view text) {
  const std::size_t last = text.find_last_not_of('\n');
  text = text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    log(severity, text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

void log_last_words(std::string_view lines) {
  // In glibc this is one atomic operation, which does not wait for a thread that may never
  // continue.
  if (!g_log.mutex.try_lock()) return;
  const int file = ::open(g_log.path.data(), O_WRONLY | O_APPEND | O_CLOEXEC);
  while (file >= 0 && !lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size() - 1);
    static FixedText record;  // under the mutex; the stack may be that of a signal handler
    record.clear();
    add_head(record);
    record.add(lines.substr(0, end)).end_line();
    if (::write(file, record.view().data(), record.view().size()) < 0) break;
    lines.remove_prefix(end + 1);
  }
  if (file >= 0) ::close(file);
  g_log.mutex.unlock();
}

}  // namespace krl::core
