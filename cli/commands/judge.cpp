#include "cli/commands.hpp"
#include "cli/console.hpp"
#include "cli/eval.hpp"
#include "cli/policy_options.hpp"
#include "service/kernels/module_task.hpp"

namespace krl::cli {
int judge_command(const Words& words) {
  CommandLine line(
      "kernelrl judge KERNEL.cu --reference MODULE.py [--shape TENSOR=SIZE,…]… [--backend B]",
      "Judges a kernel by a PyTorch module or function that computes the same: a verdict, a time and\n"
      "advice. Needs a Python with PyTorch: python3, or the one that KERNELRL_PYTHON names. To keep the\n"
      "task that is made of the module: kernelrl tasks import pytorch.\n");
  line.option("reference", "MODULE.py",
              "a class that derives from nn.Module, or a function of tensors");
  line.repeatable(
      "shape", "TENSOR=SIZE,…",
      "sizes of a tensor, if the module has no get_inputs(): x=rows:1024,columns:512 (repeatable)");
  line.option("name", "NAME", "the class or function, where the module has several");
  line.option("backend", "B", "the backend that judges", "cpu");
  line.repeatable("set", "KEY=VALUE", "an option of the backend (repeatable)");
  line.repeatable("before", "B", "a cheaper backend that sees it first (repeatable)");
  line.option("sanitizer", "B",
              "a second backend, such as cpu, that executes it again if it passed");
  line.flag("holdout", "also run the hold-outs and the whole pool of shapes");
  line.flag("json", "print one JSON object");
  add_plugin_path_option(line);
  line.positional({"kernel"});
  if (const auto over = line.parse(words)) return *over;
  if (!line.has("kernel")) return line.wrong("no kernel given: name its file");
  if (!line.has("reference")) return line.wrong("no PyTorch module given: use --reference");
  return eval_kernel(line, line.text("kernel"), [&](Components& components) {
    return task_of_module({line.text("reference"), line.text_or("name"), line.texts("shape")},
                          child_options(), components);
  });
}

}  // namespace krl::cli
