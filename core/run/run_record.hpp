// run.json: the program, plugins and machine that made a run. It has one entry for every start: the
// first, and every resume. Plain data.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/file_system.hpp"
#include "core/base/result.hpp"

namespace krl::core {

struct PluginRecord {
  std::string id;  // "backend/cpu"
  std::string version;
  std::string path;
  std::string sha256;  // digest of the file
};

struct MachineRecord {
  std::string host, system, processor;
  int cores = 0;
  double memory_gib = 0;
};

struct RunStart {
  std::string version;  // kernelrl's
  std::vector<std::string> command_line;
  std::filesystem::path folder;  // absolute path of the folder in which it was called
  std::filesystem::path plan;    // the file; absolute
  std::vector<PluginRecord> plugins;
  MachineRecord machine;
  double time = 0;  // Unix seconds
};

MachineRecord this_machine();

// Returns the plan file that the run at this run.json was first started from; empty if it is not
// recorded.
std::filesystem::path first_plan(const std::filesystem::path& record);

// Adds a start to run.json (created if missing). Returns the differences from the previous start,
// in words for the user: another version of kernelrl, a plugin whose file changed, another
// processor.
Result<std::vector<std::string>> record_start(FileSystem& files, const std::filesystem::path& path,
                                              const RunStart& start);

// Adds to the newest start of run.json the documents that its stages retrieve: a fingerprint of
// them by the stage's name. Returns the stages whose documents were others at the last start that
// had them.
Result<std::vector<std::string>> record_documents(
    FileSystem& files, const std::filesystem::path& path,
    const std::map<std::string, std::string>& of_stages);

// Returns the text as one word of a shell: in quotes if it has characters that a shell would
// interpret.
std::string shell_word(std::string_view text);

// "kernelrl runs resume /home/x/runs/quickstart": works as it is, from any folder. `program`: the
// program as it was called (argv[0]); a path to it is made absolute.
std::string resume_command(const std::string& program, const std::filesystem::path& run);

}  // namespace krl::core
