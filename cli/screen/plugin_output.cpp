#include "cli/screen/plugin_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

#include "cli/console.hpp"

namespace krl::cli {
namespace {

void send_to(int descriptor) {
  std::fflush(stdout);  // earlier output belongs to its former destination
  ::dup2(descriptor, STDOUT_FILENO);
  ::dup2(descriptor, STDERR_FILENO);
}

}  // namespace

PluginOutput::PluginOutput(const std::filesystem::path& file) {
  const int opened = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (opened < 0) return;
  send_to(opened);
  ::close(opened);
}

PluginOutput::~PluginOutput() { send_to(::fileno(errors())); }

}  // namespace krl::cli
