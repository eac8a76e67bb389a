#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "service/plugins/new_project.hpp"

namespace krl::cli {
namespace fs = std::filesystem;

int new_command(const Words& words) {
  CommandLine line(
      "kernelrl new {reward | dataset | backend | policy | task} NAME [--language L] [--output DIR]",
      "Begins a plugin of your own, or a task: a folder with a component that works, its test, a plan that\n"
      "uses it, a workflow for CI, and a README with the commands. NAME: short_source; or acme.short_source,\n"
      "whose first word is the vendor in the component's id.\n");
  line.option("language", "L", "c++ (by default) or python; a reward also in c or rust", "");
  line.option("output", "DIR", "the new folder, by default NAME");
  line.positional({"kind", "name"});
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("kind"))
    return line.wrong("nothing to begin: name reward, dataset, backend, policy or task");
  if (!line.has("name"))
    return line.wrong("no name given: kernelrl new " + line.text("kind") + " NAME");
  const std::string name = line.text("name");
  const fs::path folder = line.text_or("output", name.substr(name.rfind('.') + 1));
  const auto files =
      service::write_project({line.text("kind"), name, line.text("language"), folder});
  if (!files) return report(files.error());
  for (const fs::path& file : *files) print(file.string() + "\n");
  print(fmt::format("{} has the commands\n", (folder / "README.md").string()));
  return kDone;
}

}  // namespace krl::cli
