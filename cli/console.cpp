#include "cli/console.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/text.hpp"

namespace krl::cli {
namespace {

// Code points, not bytes: continuation bytes take no column.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::FILE* g_output = stdout;
std::FILE* g_errors = stderr;
int g_error_of_output = 0;  // errno after the first write that failed

// The stream behind `descriptor`, under a number that no plugin knows of and no child inherits.
std::FILE* own_stream(int descriptor) {
  constexpr int kFirstFree = 10;
  const int own = ::fcntl(descriptor, F_DUPFD_CLOEXEC, kFirstFree);
  return own < 0 ? nullptr : ::fdopen(own, "w");
}

}  // namespace

void keep_streams() {
  // If the program was started without one of these descriptors, no file of the program must get
  // its number.
  int opened = -1;
  do opened = ::open("/dev/null", O_RDWR);
  while (opened >= 0 && opened <= STDERR_FILENO);
  ::close(opened);
  std::FILE* const out = own_stream(STDOUT_FILENO);
  std::FILE* const err = own_stream(STDERR_FILENO);
  if (out == nullptr || err == nullptr) return;  // no descriptors are left: as without this
  std::setvbuf(err, nullptr, _IONBF, 0);
  g_output = out;
  g_errors = err;
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

std::FILE* output() { return g_output; }
std::FILE* errors() { return g_errors; }

ChildOptions child_options() {
  const char* const python = std::getenv("KERNELRL_PYTHON");
  std::fflush(g_output);
  return {::fileno(g_output), ::fileno(g_errors), python != nullptr ? python : "python3"};
}

int print_json(const nlohmann::ordered_json& json) {
  print(json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  return kDone;
}

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), g_output) == text.size();
  if ((std::fflush(g_output) != 0 || !written) && g_error_of_output == 0) g_error_of_output = errno;
}

int code_after_output(int code) {
  if (g_error_of_output == 0 || code != kDone) return code;
  if (g_error_of_output == EPIPE) return kUnread;
  return report({Code::kUnavailable,
                 std::string("cannot write the output: ") + std::strerror(g_error_of_output)});
}

void print_error(std::string_view text) { std::fwrite(text.data(), 1, text.size(), g_errors); }

void print_warning(const std::string& text) {
  print_error("kernelrl: warning: " + one_line(text) + "\n");
}

int exit_code_of(const Error& error) {
  switch (error.code) {
    case Code::kOk:
      return kDone;
    case Code::kCancelled:
      return kInterrupted;
    case Code::kInvalidArgument:
    case Code::kNotFound:
    case Code::kFailedPrecondition:
    case Code::kUnimplemented:
      return kWrongCall;
    default:
      return kRunFailed;
  }
}

int report(const Error& error) {
  const bool rendered = error.message.ends_with('\n');  // a plan's errors name their places
  std::string text = rendered ? "" : "kernelrl: error: ";
  for (const std::string& line : printable_lines(error.message)) text += line + "\n";
  print_error(text);
  return exit_code_of(error);
}

int exit_code_of(const Result<int>& code) { return code ? *code : report(code.error()); }

std::string columns(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line += std::string(widths[i] - width(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace krl::cli
