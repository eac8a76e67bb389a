#include "core/app/calls.hpp"
#include "core/app/console.hpp"
#include "core/app/exit_code.hpp"
#include "core/app/plan_call.hpp"
#include "core/app/task_list.hpp"
#include "core/learn/setup.hpp"
#include "core/plugin/call_watch.hpp"

namespace krl {

int call_check(const Words& words) {
  CallLine line("kernelrl check PLAN [--set KEY=VALUE]… [--tasks]",
                "Checks a plan and the plugins it names, without running it.\n");
  line.options()("tasks", "also list the plan's tasks");
  add_plan_options(line);
  line.positional({"plan"});
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("plan")) return line.wrong("which plan? Name its file");
  const auto loaded = load_plan_of(line.text("plan"), line);
  if (!loaded) return report(loaded.error());
  const CallWatch watch(print_warning);
  const auto missing = check_components(loaded->plan, loaded->registry);
  if (!missing) return report(missing.error());
  for (const std::string& note : loaded->plan.notes) print(note + "\n");
  print(line.text("plan") + ": no errors\n");
  for (const Error& error : *missing) print("It cannot be run here:\n" + error.message);
  if (!line.has("tasks")) return kDone;
  const auto tasks = task_list(*loaded);
  if (!tasks) return report(tasks.error());
  print(*tasks);
  return kDone;
}

}  // namespace krl
