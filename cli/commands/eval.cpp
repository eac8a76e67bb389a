#include <filesystem>

#include "cli/commands.hpp"
#include "cli/eval.hpp"
#include "cli/policy_options.hpp"
#include "service/kernels/answer_table.hpp"
#include "service/kernels/tasks.hpp"

namespace krl::cli {
namespace {

constexpr const char* kOfKernels[] = {"backend", "before",   "sanitizer", "task",    "contract",
                                      "holdout", "protocol", "where",     "request", "reward"};
constexpr const char* kOfPolicies[] = {"run", "checkpoint", "samples", "k", "tasks", "answers"};

void add_kernel_options(CommandLine& line) {
  line.option("backend", "ID", "the backend that evaluates it");
  line.repeatable("before", "BACKEND",
                  "a cheaper backend that sees it first, with options: cpu, or \"nvrtc execute=off "
                  "arch=sm_90a\"; repeatable");
  line.option("sanitizer", "ID",
              "a second backend, such as cpu, that executes it again if it passed");
  line.option(
      "task", "T",
      "the id of a built-in task, or a task file; of a folder of kernels also a folder of tasks");
  line.option("contract", "C", "device (the default), or host");
  line.option("protocol", "P", "kernelbench: also judge by the rules of KernelBench");
  line.repeatable("where", "CONDITION",
                  "of a table only rows for which it holds, such as \"Level_ID == 1\"; repeatable");
  line.flag("holdout", "also run the hold-outs and the whole pool of shapes");
  line.option(
      "reward", "FILE",
      "write what one kernel earns to this file, as verifiers of agents' benchmarks do; nothing if "
      "it could not be judged");
  line.option("request", "FILE",
              "judge a request in JSON, - for standard input, and print the evaluation as JSON");
  line.rest("kernel");
}

void add_measurement_options(CommandLine& line) {
  line.option("samples", "N", "episodes per task (16)");
  line.option("k", "LIST", "the k of best@k: 1,4,16");
  line.option("tasks", "SETS", "train, holdout or all (the default)");
  line.option("answers", "FILE",
              "write every answer with its verdict and the reason to this file, a JSON line each");
  line.option(
      "output", "FILE",
      "also write the JSON object to this file; of several kernels one a line, and a later call "
      "leaves out those that it holds");
  line.flag("json", "print one JSON object");
}

bool is_folder(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_directory(path, ignored);
}

// Returns what is wrong with the options of a call that judges kernels; empty: nothing.
std::string wrong_options(const CommandLine& line, bool is_table, bool several) {
  if (line.has("output") && !several)
    return "--output needs a policy, --run or --plan, or several kernels: files, a folder or a table";
  if (line.has("json") && several)
    return "--json needs one kernel or a policy; of several kernels use --output";
  if (line.has("reward") && (several || line.has("request")))
    return "--reward needs the file of one kernel";
  if (line.has("where") && !is_table)
    return "--where needs a table: a file .parquet, .jsonl or .ndjson";
  for (const char* name : kOfPolicies) {
    if (line.has(name)) return "--" + std::string(name) + " is for a policy, not for kernels";
  }
  if (line.has("stage") && !line.has("plan")) return "--stage needs --plan";
  if (line.has("plan") == line.has("backend"))
    return line.has("plan") ? "the plan has a backend; give only one of --plan and --backend"
                            : "no backend given: use --backend, or --plan";
  for (const char* name : {"before", "sanitizer"}) {
    if (line.has("plan") && line.has(name))
      return "the plan has its own backends; --" + std::string(name) + " needs --backend";
  }
  if (line.has("contract") && !named<Contract>(line.text("contract")))
    return "--contract takes device or host";
  if (line.has("protocol") && line.text("protocol") != "kernelbench")
    return "--protocol takes kernelbench";
  if (line.has("request")) return {};
  if (!line.has("task")) return "no task given: use --task";
  return line.has("kernel") ? "" : "no kernel given: name its file";
}

int eval_kernels(const CommandLine& line) {
  const Words kernels = line.texts("kernel");
  const bool is_table = kernels.size() == 1 && AnswerTable::is_table(kernels.front());
  const bool several =
      is_table || kernels.size() > 1 || (!kernels.empty() && is_folder(kernels.front()));
  for (const std::string& kernel : kernels) {
    if (kernels.size() == 1 || !(AnswerTable::is_table(kernel) || is_folder(kernel))) continue;
    return line.wrong("'" + kernel +
                      "' is a folder or table, which is judged in a call of its own");
  }
  if (const std::string wrong = wrong_options(line, is_table, several); !wrong.empty())
    return line.wrong(wrong);
  if (line.has("request")) {
    for (const char* name : {"kernel", "task", "contract", "holdout"}) {
      if (line.has(name))
        return line.wrong("--request has its own " + std::string(name) + "; give only one of them");
    }
    return eval_request(line);
  }
  if (several) return eval_answers(line, kernels);
  return eval_kernel(line, kernels.front(), [&](Components& components) {
    return find_task(line.text("task"), components);
  });
}

}  // namespace

int eval_command(const Words& words) {
  CommandLine line(
      "kernelrl eval (--backend B | --plan PLAN) --task T KERNEL.cu…\n"
      "       kernelrl eval (--backend B | --plan PLAN) --task TASKS KERNELS [--output FILE]\n"
      "       kernelrl eval (--backend B | --plan PLAN) --task TASKS TABLE [--where CONDITION] [--output FILE]\n"
      "       kernelrl eval (--backend B | --plan PLAN) --request FILE\n"
      "       kernelrl eval (--run NAME | --plan PLAN [--checkpoint DIR])",
      "Evaluates kernel files, a folder or table of them, or a policy on the tasks of its plan.\n"
      "Kernels are judged by a backend, or by the backend, its options and the sanitizer of a plan.\n");
  add_kernel_options(line);
  add_policy_options(line);
  add_measurement_options(line);
  if (const auto over = line.parse(words)) return *over;
  if (line.has("kernel") || line.has("request") || !names_policy(line)) return eval_kernels(line);
  for (const char* name : kOfKernels) {
    if (line.has(name))
      return line.wrong("--" + std::string(name) + " only applies to a kernel file");
  }
  return eval_policy(line);
}

}  // namespace krl::cli
