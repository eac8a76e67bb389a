#include "serve/dialects/mcp_tool_list.hpp"

namespace krl::serve::mcp {
namespace {

Json text_schema(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

Json list_schema(Json items, const char* description) {
  return {{"type", "array"}, {"items", std::move(items)}, {"description", description}};
}

Json object_schema(Json properties, Json required = Json::array()) {
  Json schema = {{"type", "object"}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

Json tool(const char* name, const char* title, const char* description, Json input, Json output,
          bool is_read_only = true) {
  input["additionalProperties"] = false;
  return {{"name", name},
          {"title", title},
          {"description", description},
          {"inputSchema", std::move(input)},
          {"outputSchema", std::move(output)},
          {"annotations",
           {{"readOnlyHint", is_read_only},
            {"destructiveHint", false},
            {"idempotentHint", true},
            {"openWorldHint", false}}}};
}

Json task_argument() { return text_schema("the id of a task: list_tasks has them"); }

Json source_argument() {
  return text_schema(
      "the whole source in CUDA C++, its // @launch comments included, without Markdown or tags");
}

Json contract_argument() {
  return {{"type", "string"},
          {"enum", {"device", "host"}},
          {"description",
           "device (the default): kernels that the judge launches; host: a program with host code, "
           "where the backend takes such"}};
}

Json task_output() {
  return object_schema(
      {{"id", text_schema("its name for the other tools")},
       {"title", {{"type", "string"}}},
       {"tier", {{"type", "integer"}}},
       {"prompt", text_schema("what to write, and by which rules")},
       {"signature", text_schema("the tensors and scalars in C's terms")},
       {"naive", text_schema("a slow kernel that is right: the baseline of speedups")}});
}

Json new_task() {
  return tool(
      "new_task", "Make a task of a PyTorch module",
      "Makes a task of a PyTorch module or function, so that kernels can be judged by it. Runs the "
      "module's code, and takes seconds. A speedup needs a baseline; without one there are times.",
      object_schema(
          {{"id", text_schema("a name for the task: letters, digits and _")},
           {"module",
            text_schema("Python: a class that derives from nn.Module, or a function of tensors; "
                        "get_inputs() returns the arguments of a call, and get_init_inputs() "
                        "those of the constructor")},
           {"name", text_schema("the class or function, where there are several")},
           {"shapes", list_schema({{"type", "string"}},
                                  "sizes of each tensor, if there is no get_inputs(): "
                                  "\"x=rows:1024,columns:512\"")},
           {"baseline",
            text_schema("a plain kernel that is right, which speedups are relative to")}},
          {"id", "module"}),
      task_output(), false);
}

Json compare_kernels() {
  Json compared = verdict_schema(Depth::kVerdict);
  compared["properties"]["name"] = {{"type", "string"}};
  return tool(
      "compare_kernels", "Compare kernels",
      "Judges several kernels of a task and compares them in a table.",
      object_schema({{"task", task_argument()},
                     {"kernels",
                      {{"type", "array"},
                       {"minItems", 2},
                       {"maxItems", kMostCompared},
                       {"items", object_schema({{"name", text_schema("what to call it")},
                                                {"source", source_argument()}},
                                               {"source"})}}},
                     {"contract", contract_argument()}},
                    {"task", "kernels"}),
      object_schema(
          {{"task", {{"type", "string"}}},
           {"kernels", list_schema(std::move(compared), "in the order of the call")},
           {"fastest", text_schema("the name of the right kernel with the highest speedup")}}));
}

}  // namespace

Json tool_list(bool can_import) {
  const Json one_kernel = object_schema(
      {{"task", task_argument()}, {"source", source_argument()}, {"contract", contract_argument()}},
      {"task", "source"});
  Json list = {
      tool("list_tasks", "List tasks", "Lists the tasks that kernels are judged for.",
           object_schema(
               {{"tier",
                 {{"type", "integer"}, {"description", "only those of this difficulty, 0 to 3"}}},
                {"search", text_schema("only those whose id or title contains this")}}),
           object_schema({{"tasks", list_schema(object_schema({{"id", {{"type", "string"}}},
                                                               {"title", {{"type", "string"}}},
                                                               {"tier", {{"type", "integer"}}}}),
                                                "by id")}})),
      tool("show_task", "Show a task",
           "Shows what a kernel of this task must compute, the rules for its source, the shapes at "
           "which it is checked and timed, and a naive kernel. Read it before you write a kernel.",
           object_schema({{"task", task_argument()}}, {"task"}), task_output()),
      tool(
          "evaluate_kernel", "Judge a kernel",
          "Compiles a kernel, checks its results at shown and unseen shapes, and times it: verdict, "
          "reason with its line, times and speedups with intervals, share of the roofline, what "
          "limits it, advice, registers and occupancy. A wrong kernel is a normal answer. An error "
          "with infrastructure: true is no verdict on the kernel: call again.",
          one_kernel, verdict_schema(Depth::kVerdict)),
      tool(
          "profile_kernel", "Profile a kernel",
          "The same as evaluate_kernel, with all counters: memory traffic, sectors per request, bank "
          "conflicts, instructions by class, stalls. Use it on a right kernel to find what to change.",
          one_kernel, verdict_schema(Depth::kProfile)),
      compare_kernels(),
      tool("best", "Best kernels so far",
           "Shows the fastest right kernel of a task, or of every task, that was judged here since "
           "the judge started, with its source.",
           object_schema({{"task", task_argument()}}),
           object_schema({{"best", list_schema(object_schema({{"task", {{"type", "string"}}},
                                                              {"speedup", {{"type", "number"}}},
                                                              {"device", {{"type", "string"}}},
                                                              {"source", {{"type", "string"}}}}),
                                               "by task")}}))};
  if (can_import) list.push_back(new_task());
  return list;
}

}  // namespace krl::serve::mcp
