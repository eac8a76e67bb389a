#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/plan_run.hpp"
#include "cli/policy_options.hpp"
#include "cli/stop_signals.hpp"
#include "core/plugin/session.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

constexpr const char* kHuggingFace = "hf";
constexpr const char* kPeft = "peft";

// An exported folder must not contain other files.
Status check_new(const fs::path& directory) {
  std::error_code error;
  if (!fs::exists(directory, error)) return {};
  if (fs::is_directory(directory, error) && fs::is_empty(directory, error)) return {};
  return invalid("'" + directory.string() + "' already exists; name a new folder");
}

Status export_policy(const ChosenPolicy& chosen, const fs::path& directory,
                     const std::string& format) {
  const StopSignals signals;
  Session session(chosen.loaded.registry, print_warning, {&StopSignals::stop()});
  KRL_TRY(check_new(directory));
  KRL_ASSIGN(const Policy policy, open_policy(chosen, session.components()));
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) return invalid("'" + directory.string() + "': " + error.message());
  const Status exported = policy.export_weights(fs::absolute(directory).string(), format);
  if (!exported) fs::remove(directory, error);  // goes if nothing is in it
  return exported;
}

}  // namespace

int export_command(const Words& words) {
  CommandLine line("kernelrl export (--run NAME | --plan PLAN [--checkpoint DIR]) DIRECTORY",
                   "Writes a policy's weights into a new folder, for other programs to load.\n");
  add_policy_options(line);
  line.option("format", "FORMAT", "hf: the whole model (the default); peft: its LoRA adapters");
  line.positional({"directory"});
  if (const auto over = line.parse(words)) return *over;
  if (!names_policy(line)) return line.wrong("no policy given: use --run NAME or --plan PLAN");
  if (!line.has("directory")) return line.wrong("no folder given: name a new one");
  const std::string format = line.text_or("format", kHuggingFace);
  if (format != kHuggingFace && format != kPeft)
    return line.wrong("--format takes hf or peft, not '" + format + "'");
  const auto chosen = choose_policy(line);
  if (!chosen) return report(chosen.error());
  if (const auto served = serve_as_follower(chosen->loaded)) return *served;
  const Status exported = export_policy(*chosen, line.text("directory"), format);
  if (!exported) return report(exported.error());
  print("exported to " + line.text("directory") + "\n");
  return kDone;
}

}  // namespace krl::cli
