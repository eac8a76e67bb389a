#include "plugins/backends/ptx/contents.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "plugins/backends/ptx/cache_policies.hpp"
#include "plugins/backends/ptx/clock_data.hpp"
#include "plugins/backends/ptx/reached.hpp"

namespace krl::ptx {
namespace {

struct Refusal {
  std::string_view name, why;
};

constexpr std::string_view kLaunchedClusters =
    "launches give no size of clusters: a kernel has one by __cluster_dims__";
constexpr std::string_view kAsyncStores =
    "asynchronous stores are not supported: store, and arrive at a barrier";
constexpr std::string_view kMulticasts = "copies to several blocks at once are not supported";
constexpr std::string_view kMadeMaps = "tensor maps are made by @tensor_map alone";
constexpr std::string_view kBulkPrefetches =
    "bulk prefetches are not allowed: they may reach what the kernel does not read";
constexpr std::string_view kBulkStores = "bulk stores are not supported";
constexpr std::string_view kTextures = "textures and surfaces are not supported: load from buffers";
constexpr std::string_view kKept = "asks the L2 cache to keep lines beyond the launch";
constexpr std::string_view kWhere = "results may not depend on where a kernel runs";
constexpr std::string_view kElsewhere = "is declared, but not defined in the source";
constexpr std::string_view kHost = "belongs to the host: the harness owns memory and launches";

constexpr Refusal kFunctions[] = {
    {"vprintf", "printf is not allowed: a kernel only writes its outputs"},
    {"__assertfail", "assert is not allowed: a kernel only writes its outputs"},
    {"malloc", "malloc and new are not allowed: memory comes from @scratch"},
    {"free", "free and delete are not allowed: memory comes from @scratch"},
};

// Refused opcodes, as far as all of their forms are refused.
constexpr Refusal kOpcodes[] = {
    {"tex", kTextures},
    {"tld4", kTextures},
    {"txq", kTextures},
    {"suld", kTextures},
    {"sust", kTextures},
    {"sured", kTextures},
    {"suq", kTextures},
    {"istypep", kTextures},
    {"multimem", "reaches other GPUs"},
    {"clusterlaunchcontrol", "a block may not take over another's work"},
    {"griddepcontrol", "a launch depends on no other"},
    {"tensormap", kMadeMaps},
    {"brkpt", "is for debuggers"},
    {"pmevent", "is for profilers"},
    {"discard", "may not discard the contents of memory"},
};

// Modifiers that are refused with any opcode.
constexpr Refusal kModifiers[] = {
    {"tensormap::generic", kMadeMaps},
    {"multicast::cluster", kMulticasts},
    {"mmio", "reaches devices"},
    {"L2::evict_last", kKept},
};

constexpr Refusal kRegisters[] = {
    {"%smid", kWhere},
    {"%nsmid", kWhere},
    {"%warpid", "warps have no fixed number; compute it from threadIdx"},
    {"%nwarpid", "warps have no fixed number; compute it from threadIdx"},
    {"%gridid", "results may not depend on which launch it is"},
    {"%current_graph_exec", "results may not depend on which launch it is"},
    {"%envreg", "needs a cooperative launch, and @launch makes none"},
    {"%pm", "is for profilers"},
};

// Opcode and a modifier of it.
struct FormRefusal {
  std::string_view opcode, modifier, why;
};
constexpr FormRefusal kForms[] = {
    {"st", "async", kAsyncStores},  {"red", "async", kAsyncStores},
    {"st", "bulk", kBulkStores},    {"cp", "prefetch", kBulkPrefetches},
    {"createpolicy", "cvt", kKept},
};

class ContentsCheck {
 public:
  explicit ContentsCheck(const Module& module) : module_(module) {}

  std::vector<ContentsProblem> run(const std::vector<std::string>& kernels) {
    const std::vector<const Function*> functions = reached_functions(module_, kernels);
    for (const Function* function : functions) check_function(*function);
    check_addresses();
    return std::move(problems_);
  }

 private:
  void refuse(std::string message, const Place& place) {
    constexpr std::size_t kMost = 12;
    if (problems_.size() == kMost) return;
    if (!seen_.emplace(message, place.source).second) return;
    problems_.push_back({std::move(message), place});
  }

  void check_function(const Function& function) {
    if (function.explicit_cluster && function.required_cluster[0] == 0)
      refuse(std::string(kLaunchedClusters), function.place);
    for (const Refusal& refusal : kFunctions) {
      if (function.name == refusal.name)
        refuse("a function called " + function.name + ": the name is the device runtime's",
               function.place);
    }
    for (const Instruction& instruction : function.body) check_instruction(function, instruction);
    for (const Instruction* use : uses_of_clocks(function)) {
      refuse("a clock's value in " + use->full_name() +
                 ": clocks may only decide for how long a thread waits",
             use->place);
    }
    for (const Instruction* use : uses_of_unknown_policies(function)) {
      refuse(use->full_name() + ": its cache policy must come from createpolicy as it is",
             use->place);
    }
  }

  void check_instruction(const Function& function, const Instruction& instruction) {
    check_form(instruction);
    if (instruction.opcode == "call") check_call(function, instruction);
    for (std::size_t i = 0; i < instruction.operands.size(); ++i) {
      for_each_operand(instruction.operands[i],
                       [&](const Operand& operand) { check_operand(operand, instruction); });
    }
  }

  void check_form(const Instruction& instruction) {
    const auto refuse_form = [&](std::string_view why) {
      refuse(instruction.full_name() + ": " + std::string(why), instruction.place);
    };
    for (const Refusal& refusal : kOpcodes) {
      if (instruction.opcode == refusal.name) return refuse_form(refusal.why);
    }
    for (const FormRefusal& form : kForms) {
      if (instruction.opcode == form.opcode && instruction.has(form.modifier)) {
        return refuse_form(form.why);
      }
    }
    for (const Refusal& refusal : kModifiers) {
      if (instruction.has(refusal.name)) return refuse_form(refusal.why);
    }
  }

  void check_operand(const Operand& operand, const Instruction& instruction) {
    if (operand.kind == Operand::kFunction && instruction.opcode != "call") {
      refuse("the address of a function: call functions by name", instruction.place);
    }
    if (operand.kind == Operand::kVariable && operand.scope == Operand::kModule) {
      check_variable(module_.variables[operand.index], instruction.place);
    }
    if (operand.kind != Operand::kSpecial) return;
    for (const Refusal& refusal : kRegisters) {
      if (!operand.name.starts_with(refusal.name)) continue;
      refuse(operand.name + ": " + std::string(refusal.why), instruction.place);
    }
  }

  void check_variable(const Variable& variable, const Place& place) {
    if (variable.external && variable.space != Space::kShared) {
      refuse(variable.name + ": " + std::string(kElsewhere), place);
    }
  }

  // "call (results), callee, (arguments), list"
  void check_call(const Function& function, const Instruction& instruction) {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == Operand::kList) continue;
      if (operand.kind == Operand::kFunction) {
        check_callee(module_.functions[operand.index], instruction.place);
      } else {
        refuse("a call through a pointer: call functions by name, without virtual",
               instruction.place);
      }
      return;
    }
    refuse("a call without a target in " + function.name, instruction.place);
  }

  void check_callee(const Function& callee, const Place& place) {
    if (!callee.external) return;
    for (const Refusal& refusal : kFunctions) {
      if (callee.name == refusal.name) return refuse(std::string(refusal.why), place);
    }
    const bool runtime = callee.name.starts_with("cuda") || callee.name.starts_with("__cuda");
    refuse(callee.name + ": " + std::string(runtime ? kHost : kElsewhere), place);
  }

  // Refuses vtables and tables of functions: code that reads them could call or write to any place.
  void check_addresses() {
    std::set<std::string_view> functions;
    for (const Function& function : module_.functions) functions.insert(function.name);
    for (const Variable& variable : module_.variables) {
      for (const Variable::Address& address : variable.addresses) {
        if (functions.count(address.symbol) == 0) continue;
        refuse(variable.name + " holds the address of a function: call functions by name", {});
      }
    }
  }

  const Module& module_;
  std::vector<ContentsProblem> problems_;
  std::set<std::pair<std::string, std::uint32_t>> seen_;
};

}  // namespace

std::string ContentsProblem::text() const {
  if (place.source == 0) return message;
  return "line " + std::to_string(place.source) + ": " + message;
}

std::vector<ContentsProblem> check_contents(const Module& module,
                                            const std::vector<std::string>& kernels) {
  return ContentsCheck(module).run(kernels);
}

std::string first_problem(const Module& module, const std::vector<std::string>& kernels) {
  const auto problems = check_contents(module, kernels);
  return problems.empty() ? "" : problems.front().text();
}

}  // namespace krl::ptx
