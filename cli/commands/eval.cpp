#include <filesystem>

#include "cli/commands.hpp"
#include "cli/eval.hpp"
#include "cli/policy_options.hpp"
#include "service/kernels/answer_table.hpp"
#include "service/kernels/tasks.hpp"

namespace krl::cli {
namespace po = boost::program_options;
namespace {

constexpr const char* kOfKernels[] = {"backend",  "sanitizer", "task",    "contract", "holdout",
                                      "protocol", "where",     "request", "reward"};
constexpr const char* kOfPolicies[] = {"plan",    "run", "checkpoint", "stage",
                                       "samples", "k",   "tasks",      "answers"};

void add_kernel_options(CommandLine& line) {
  line.options()("backend", po::value<std::string>()->value_name("ID"),
                 "the backend that evaluates it")(
      "sanitizer", po::value<std::string>()->value_name("ID"),
      "a second backend, such as cpu, that executes it again if it passed")(
      "task", po::value<std::string>()->value_name("T"),
      "the id of a built-in task, or a task file; of a folder of kernels also a folder of tasks")(
      "contract", po::value<std::string>()->value_name("C"), "device (the default), or host")(
      "protocol", po::value<std::string>()->value_name("P"),
      "kernelbench: also judge by the rules of KernelBench")(
      "where", po::value<Words>()->value_name("CONDITION"),
      "of a table only rows for which it holds, such as \"Level_ID == 1\"; repeatable")(
      "holdout", "also run the hold-outs and the whole pool of shapes")(
      "reward", po::value<std::string>()->value_name("FILE"),
      "write what one kernel earns to this file, as verifiers of agents' benchmarks do; nothing if "
      "it could not be judged")(
      "request", po::value<std::string>()->value_name("FILE"),
      "judge a request in JSON, - for standard input, and print the evaluation as JSON");
  line.positional({"kernel"});
}

void add_measurement_options(CommandLine& line) {
  line.options()("samples", po::value<std::string>()->value_name("N"), "episodes per task (16)")(
      "k", po::value<std::string>()->value_name("LIST"), "the k of best@k: 1,4,16")(
      "tasks", po::value<std::string>()->value_name("SETS"), "train, holdout or all (the default)")(
      "answers", po::value<std::string>()->value_name("FILE"),
      "write every answer with its verdict and the reason to this file, a JSON line each")(
      "output", po::value<std::string>()->value_name("FILE"),
      "also write the JSON object to this file; of a folder or table one a line, and a later call "
      "leaves out the kernels that it holds")("json", "print one JSON object");
}

}  // namespace

int eval_command(const Words& words) {
  CommandLine line(
      "kernelrl eval --backend B --task T KERNEL.cu\n"
      "       kernelrl eval --backend B --task TASKS KERNELS [--output FILE]\n"
      "       kernelrl eval --backend B --task TASKS TABLE [--where CONDITION] [--output FILE]\n"
      "       kernelrl eval --backend B --request FILE\n"
      "       kernelrl eval (--run NAME | --plan PLAN [--checkpoint DIR])",
      "Evaluates one kernel file, a folder or table of them, or a policy on the tasks of its plan.\n");
  add_kernel_options(line);
  add_policy_options(line);
  add_measurement_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (names_policy(line)) {
    if (line.has("kernel"))
      return line.wrong("give a kernel file or the policy of a plan, not both");
    for (const char* name : kOfKernels) {
      if (line.has(name))
        return line.wrong("--" + std::string(name) + " only applies to a kernel file");
    }
    return eval_policy(line);
  }
  std::error_code ignored;
  const bool is_folder =
      line.has("kernel") && std::filesystem::is_directory(line.text("kernel"), ignored);
  const bool has_table = line.has("kernel") && AnswerTable::is_table(line.text("kernel"));
  if (line.has("output") && !is_folder && !has_table) {
    return line.wrong("--output needs a policy, --run or --plan, or a folder or table of kernels");
  }
  if (line.has("json") && (is_folder || has_table))
    return line.wrong("--json needs one kernel or a policy; of a folder or table use --output");
  if (line.has("reward") && (is_folder || has_table || line.has("request")))
    return line.wrong("--reward needs the file of one kernel");
  if (line.has("where") && !has_table)
    return line.wrong("--where needs a table: a file .parquet, .jsonl or .ndjson");
  for (const char* name : kOfPolicies) {
    if (line.has(name))
      return line.wrong("--" + std::string(name) + " needs a policy: --run or --plan");
  }
  if (!line.has("backend")) return line.wrong("no backend given: use --backend");
  if (line.has("request")) {
    for (const char* name : {"kernel", "task", "contract", "holdout"}) {
      if (line.has(name))
        return line.wrong("--request has its own " + std::string(name) + "; give only one of them");
    }
    return eval_request(line);
  }
  if (!line.has("task")) return line.wrong("no task given: use --task");
  if (!line.has("kernel")) return line.wrong("no kernel given: name its file");
  if (line.has("contract") && !named<Contract>(line.text("contract"))) {
    return line.wrong("--contract takes device or host");
  }
  if (line.has("protocol") && line.text("protocol") != "kernelbench") {
    return line.wrong("--protocol takes kernelbench");
  }
  if (has_table || is_folder) return eval_answers(line);
  return eval_kernel(
      line, [&](Components& components) { return find_task(line.text("task"), components); });
}

}  // namespace krl::cli
