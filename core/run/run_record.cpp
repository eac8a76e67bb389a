#include "core/run/run_record.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "core/base/clock.hpp"

namespace krl::core {
using Json = nlohmann::ordered_json;

namespace {

namespace fs = std::filesystem;

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

Json to_json(const RunStart& start) {
  Json plugins = Json::array();
  for (const PluginRecord& plugin : start.plugins)
    plugins.push_back({{"id", plugin.id},
                       {"version", plugin.version},
                       {"path", plugin.path},
                       {"sha256", plugin.sha256}});
  return {{"time", iso_time(start.time)},
          {"version", start.version},
          {"command_line", start.command_line},
          {"folder", start.folder.string()},
          {"plan", start.plan.string()},
          {"machine",
           {{"host", start.machine.host},
            {"system", start.machine.system},
            {"processor", start.machine.processor},
            {"cores", start.machine.cores},
            {"memory_gib", start.machine.memory_gib}}},
          {"plugins", plugins}};
}

std::map<std::string, std::string> plugin_hashes(const Json& start) {
  std::map<std::string, std::string> hashes;
  for (const Json& plugin : start.at("plugins"))
    hashes[plugin.at("id").get<std::string>()] = plugin.at("sha256").get<std::string>();
  return hashes;
}

std::vector<std::string> differences(const Json& before, const Json& now) {
  std::vector<std::string> found;
  const auto compare = [&](const std::string& what, const std::string& a, const std::string& b) {
    if (a != b) found.push_back(what + " changed from '" + a + "' to '" + b + "'");
  };
  compare("kernelrl's version", before.at("version"), now.at("version"));
  compare("the processor", before.at("machine").at("processor"), now.at("machine").at("processor"));
  const auto old_hashes = plugin_hashes(before);
  for (const auto& [id, hash] : plugin_hashes(now)) {
    const auto old = old_hashes.find(id);
    if (old == old_hashes.end())
      found.push_back("plugin " + id + " was not used before");
    else if (old->second != hash)
      found.push_back("the file of plugin " + id + " has changed");
  }
  return found;
}

bool is_plain(char c) {
  constexpr std::string_view kMarks = "_-./:@%+=,";
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         kMarks.find(c) != std::string_view::npos;
}

std::string absolute_text(const fs::path& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal().string();
}

}  // namespace

MachineRecord this_machine() {
  MachineRecord machine;
  utsname name{};
  if (::uname(&name) == 0) {
    machine.host = name.nodename;
    machine.system = std::string(name.sysname) + " " + name.release + " " + name.machine;
  }
  machine.processor = processor_name();
  machine.cores = static_cast<int>(std::thread::hardware_concurrency());
  const double bytes =
      static_cast<double>(::sysconf(_SC_PHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
  machine.memory_gib = bytes / (1u << 30);
  return machine;
}

std::filesystem::path first_plan(const std::filesystem::path& record) {
  const Json json = Json::parse(read_file(record).value_or(""), nullptr, false);
  const Json::json_pointer place("/starts/0/plan");
  const bool says = json.contains(place) && json.at(place).is_string();
  return says ? json.at(place).get<std::string>() : std::string();
}

Result<std::vector<std::string>> record_start(FileSystem& files, const std::filesystem::path& path,
                                              const RunStart& start) {
  Json record = {{"starts", Json::array()}};
  std::vector<std::string> found;
  std::error_code ignored;
  try {
    if (std::filesystem::exists(path, ignored)) {
      KRL_ASSIGN(const std::string text, read_file(path));
      record = Json::parse(text);
    }
    const Json now = to_json(start);
    Json& starts = record.at("starts");
    if (!starts.empty()) found = differences(starts.back(), now);
    starts.push_back(now);
  } catch (const nlohmann::json::exception& error) {
    return invalid("cannot read " + path.string() + ": " + error.what() +
                   "; move it away and try again");
  }
  KRL_TRY(write_atomically(files, path,
                           record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return found;
}

Result<std::vector<std::string>> record_documents(
    FileSystem& files, const std::filesystem::path& path,
    const std::map<std::string, std::string>& of_stages) {
  KRL_ASSIGN(const std::string text, read_file(path));
  Json record = Json::parse(text);  // record_start has just written it
  Json& starts = record.at("starts");
  std::map<std::string, std::string> before;
  for (const Json& start : starts) {
    const Json documents = start.value("documents", Json::object());
    for (const auto& [stage, fingerprint] : documents.items()) before[stage] = fingerprint;
  }
  std::vector<std::string> changed;
  for (const auto& [stage, fingerprint] : of_stages) {
    const auto known = before.find(stage);
    if (known != before.end() && known->second != fingerprint) changed.push_back(stage);
  }
  starts.back()["documents"] = of_stages;
  KRL_TRY(write_atomically(files, path,
                           record.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"));
  return changed;
}

std::string shell_word(std::string_view text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + "'";
}

std::string resume_command(const std::string& program, const fs::path& run) {
  const bool found_by_path = program.find('/') == std::string::npos;
  return shell_word(found_by_path ? "kernelrl" : absolute_text(program)) + " runs resume " +
         shell_word(absolute_text(run));
}

}  // namespace krl::core
