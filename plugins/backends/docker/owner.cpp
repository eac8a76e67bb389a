#include "plugins/backends/docker/owner.hpp"

#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "plugins/files/file.hpp"

namespace krl::docker {
namespace {

struct Mark {
  std::string boot, process_namespace, process, start;
};

// The 22nd word of /proc/PID/stat, in clock ticks since boot; empty if there is no such process.
// The second word is the program's name in parentheses and may hold anything.
std::string start_of(const std::string& process) {
  const std::string stat = files::read_file_or_empty("/proc/" + process + "/stat");
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream words(stat.substr(name_end + 1));
  std::string word;
  for (int i = 3; i <= 22; ++i) words >> word;
  return word;
}

Mark this_process() {
  std::error_code error;
  Mark mark;
  std::istringstream(files::read_file_or_empty("/proc/sys/kernel/random/boot_id")) >> mark.boot;
  mark.process_namespace = std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
  mark.process = std::to_string(::getpid());
  mark.start = start_of(mark.process);
  return mark;
}

}  // namespace

std::string mark_of_this_process() {
  const Mark mark = this_process();
  return mark.boot + " " + mark.process_namespace + " " + mark.process + " " + mark.start;
}

bool owner_is_gone(const std::string& mark) {
  Mark owner;
  std::istringstream words(mark);
  if (!(words >> owner.boot >> owner.process_namespace >> owner.process >> owner.start)) {
    return false;
  }
  const Mark here = this_process();
  if (owner.boot != here.boot) return true;
  if (owner.process_namespace != here.process_namespace) return false;
  return start_of(owner.process) != owner.start;
}

}  // namespace krl::docker
