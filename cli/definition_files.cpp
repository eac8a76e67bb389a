#include "cli/definition_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <ctime>
#include <kernelrl/evaluation_json.hpp>
#include <kernelrl/task_definition.hpp>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <set>

#include "cli/launcher_source.hpp"
#include "core/base/file_system.hpp"
#include "core/base/hash.hpp"
#include "core/run/best.hpp"

namespace krl::cli {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kOpType = "kernelrl";
constexpr const char* kAuthor = "kernelrl";
constexpr std::int64_t kLargestBlob = std::int64_t{1} << 22;  // elements of an input in a file

std::string plain_name(std::string text) {
  for (char& c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
    if (!plain && c != '.') c = '_';
  }
  return text;
}

// ---- definitions

// The axes of a definition: those of the task that shapes use, and one for every other dimension.
class AxisTable {
 public:
  explicit AxisTable(const TaskDefinition& task) {
    for (const TensorDefinition& tensor : task.inputs) taken_.insert(tensor.name);
    for (const TensorDefinition& tensor : task.outputs) taken_.insert(tensor.name);
    for (const ScalarDefinition& scalar : task.scalars) taken_.insert(scalar.name);
    for (const Axis& axis : task.axes) {
      taken_.insert(axis.name);
      names_[axis.name] = axis.name;
      texts_[axis.name] = axis.size;
      if (!axis.is_variable()) names_[axis.size] = axis.name;
      if (axis.is_variable() || is_number(axis.size)) add(axis.name, axis.size);
    }
  }

  // The names of the dimensions.
  Json shape(const TensorDefinition& tensor) {
    Json names = Json::array();
    for (const std::string& size : tensor.shape) names.push_back(name_of_size(size));
    return names;
  }

  const Json& axes() const { return axes_; }
  const Json& constraints() const { return constraints_; }

  // The axes whose size a user of the definition has to find from the inputs.
  std::vector<std::string> bound() const {
    std::vector<std::string> names;
    for (const auto& [name, axis] : axes_.items()) {
      if (axis.at("type") == "var") names.push_back(name);
    }
    return names;
  }

 private:
  static bool is_number(const std::string& size) {
    return !size.empty() && size.find_first_not_of("0123456789") == std::string::npos;
  }

  const std::string& name_of_size(const std::string& size) {
    std::string& name = names_[size];
    if (name.empty()) {
      name = "size_";
      for (const char c : size) {
        if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') name += c;
        if (c == '+') name += "_plus_";
        if (c == '-') name += "_minus_";
        if (c == '*') name += "_times_";
        if (c == '/') name += "_div_";
      }
      while (!taken_.insert(name).second) name += "_";
      texts_[name] = size;
    }
    if (!axes_.contains(name)) add(name, texts_[name]);
    return name;
  }

  // An empty size is given by each workload.
  void add(const std::string& name, const std::string& size) {
    if (is_number(size)) {
      axes_[name] = {{"type", "const"}, {"value", std::stoll(size)}};
      return;
    }
    axes_[name] = {{"type", "var"}};
    std::string python = size;
    for (std::size_t i = 0; (i = python.find('/', i)) != std::string::npos; i += 2)
      python.insert(i, "/");
    const bool plain = python.find_first_of("?<>=!,&|") == std::string::npos;
    if (!size.empty() && plain) constraints_.push_back(name + " == " + python);
  }

  Json axes_ = Json::object(), constraints_ = Json::array();
  std::map<std::string, std::string> names_;  // text of a size -> its axis
  std::map<std::string, std::string> texts_;  // axis -> text of its size, empty if it is variable
  std::set<std::string> taken_;
};

std::string output_name(const TaskDefinition& task, const TensorDefinition& output) {
  return task.find_input(output.name) == nullptr ? output.name : output.name + "_out";
}

// Returns Python that runs the task's TorchScript as the judge does. It computes shorter types in
// float32.
std::string reference_text(const TaskDefinition& task) {
  std::string parameters, arguments;
  for (const TensorDefinition& input : task.inputs) {
    const bool is_short = is_floating(input.dtype) && input.dtype != DType::kFloat32;
    parameters += (parameters.empty() ? "" : ", ") + input.name;
    arguments += (arguments.empty() ? "" : ", ") + input.name + (is_short ? ".float()" : "");
  }
  for (const ScalarDefinition& scalar : task.scalars) {
    parameters += ", " + scalar.name;
    arguments += ", " + scalar.name;
  }
  const bool several = task.outputs.size() > 1;
  std::string results;
  for (std::size_t i = 0; i < task.outputs.size(); ++i)
    results += fmt::format("{}{}.to(torch.{})", i == 0 ? "" : ", ",
                           several ? fmt::format("results[{}]", i) : "results",
                           name_of(task.outputs[i].dtype));
  return fmt::format(
      "import torch\n\nTORCHSCRIPT = r'''\n{}'''\n"
      "unit = torch._C.CompilationUnit()\n"
      "unit.define(TORCHSCRIPT, lambda name: torch.ops.aten if name == 'torch' else None)\n"
      "function = unit.find_function('run')\n\n\n"
      "def run({}):\n    results = function({})\n    return {}\n",
      task.reference, parameters, arguments, results);
}

Json tensor_json(AxisTable& axes, const TensorDefinition& tensor) {
  return {{"shape", axes.shape(tensor)}, {"dtype", name_of(tensor.dtype)}};
}

// Returns a definition, or the reason why there is none.
Result<Json> definition_json(const TaskDefinition& task, const std::string& name) {
  if (task.inputs.empty()) return invalid("it has no inputs");
  if (task.reference.find("'''") != std::string::npos)
    return invalid("its reference holds \"'''\"");
  AxisTable axes(task);
  Json inputs = Json::object(), outputs = Json::object();
  std::set<std::string> found;
  for (const TensorDefinition& input : task.inputs) {
    inputs[input.name] = tensor_json(axes, input);
    for (const Json& size : inputs[input.name]["shape"]) found.insert(size.get<std::string>());
  }
  for (const ScalarDefinition& scalar : task.scalars)
    inputs[scalar.name] = {{"shape", nullptr}, {"dtype", name_of(scalar.dtype)}};
  for (const TensorDefinition& output : task.outputs)
    outputs[output_name(task, output)] = tensor_json(axes, output);
  for (const std::string& axis : axes.bound()) {
    if (found.count(axis) == 0)
      return invalid(fmt::format(
          "no input has the size {}; FlashInfer-Bench finds all sizes from the inputs", axis));
  }
  return Json{{"name", name},
              {"op_type", kOpType},
              {"description", task.title + ". " + task.prompt},
              {"axes", axes.axes()},
              {"constraints", axes.constraints()},
              {"inputs", inputs},
              {"outputs", outputs},
              {"reference", reference_text(task)}};
}

// ---- workloads

std::string uuid_of(const std::string& text) {
  const std::string hex = sha256_hex(text);
  return hex.substr(0, 8) + "-" + hex.substr(8, 4) + "-" + hex.substr(12, 4) + "-" +
         hex.substr(16, 4) + "-" + hex.substr(20, 12);
}

// True if the values that FlashInfer-Bench draws by itself are suitable.
bool is_random(const ResolvedTensor& tensor) {
  return tensor.structure == Structure::kGeneral &&
         ((tensor.values == ValueKind::kNormal && tensor.low == 0 && tensor.high == 1) ||
          (tensor.values == ValueKind::kIntegers && tensor.dtype == DType::kBool));
}

// Values of the tensor's kind, as reals.
std::vector<double> drawn(const ResolvedTensor& tensor, std::mt19937_64& random) {
  const auto n = static_cast<std::size_t>(tensor.elements);
  std::vector<double> values(n, 0.0);
  const std::size_t row = tensor.shape.empty() ? 1 : static_cast<std::size_t>(tensor.shape.back());
  const auto below = [&](std::size_t bound) { return static_cast<std::size_t>(random() % bound); };
  const auto unit = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  switch (tensor.values) {
    case ValueKind::kNormal: {
      std::normal_distribution<double> normal(tensor.low, tensor.high);
      for (double& value : values) value = normal(random);
      break;
    }
    case ValueKind::kUniform:
      for (double& value : values) value = tensor.low + unit() * (tensor.high - tensor.low);
      break;
    case ValueKind::kUniformSigned:
      for (double& value : values) value = 2 * unit() - 1;
      break;
    case ValueKind::kIntegers:
      for (double& value : values)
        value = tensor.low + std::floor(unit() * (tensor.high - tensor.low));
      break;
    case ValueKind::kPermutation:
      for (std::size_t start = 0; start < n; start += row) {
        std::iota(values.begin() + static_cast<std::ptrdiff_t>(start),
                  values.begin() + static_cast<std::ptrdiff_t>(start + row), 0.0);
        for (std::size_t i = row; i > 1; --i)
          std::swap(values[start + i - 1], values[start + below(i)]);
      }
      break;
    case ValueKind::kOneHot:
      for (std::size_t start = 0; start < n; start += row) values[start + below(row)] = 1;
      break;
    case ValueKind::kZeros:
      break;
    case ValueKind::kBernoulli:
    case ValueKind::kFlags:
      for (double& value : values) value = unit() < tensor.high ? 1 : 0;
      break;
    case ValueKind::kSorted:
    case ValueKind::kOffsets: {
      const bool offsets = tensor.values == ValueKind::kOffsets;
      const double span = tensor.high - tensor.low + (offsets ? 1 : 0);
      for (double& value : values) value = tensor.low + std::floor(unit() * span);
      for (auto start = values.begin(); start != values.end();) {
        const auto end = start + static_cast<std::ptrdiff_t>(row);
        std::sort(start, end);
        if (offsets) *start = tensor.low;
        if (offsets && row > 1) *(end - 1) = tensor.high;
        start = end;
      }
      break;
    }
  }
  for (std::int64_t i = 0; tensor.structure != Structure::kGeneral && i < tensor.elements; ++i) {
    const std::int64_t source = source_of(tensor.structure, tensor.shape.back(), i);
    values[static_cast<std::size_t>(i)] = source < 0 ? 0 : values[static_cast<std::size_t>(source)];
  }
  return values;
}

template <class T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_value(std::string& bytes, DType type, double value) {
  switch (type) {
    case DType::kInt32:
      return append(bytes, static_cast<std::int32_t>(value));
    case DType::kInt64:
      return append(bytes, static_cast<std::int64_t>(value));
    case DType::kBool:
      return append(bytes, static_cast<std::uint8_t>(value != 0));
    default:
      return append(bytes, static_cast<float>(value));
  }
}

std::string_view safetensors_type(DType type) {
  if (type == DType::kInt32) return "I32";
  if (type == DType::kInt64) return "I64";
  return type == DType::kBool ? "BOOL" : "F32";
}

// Writes a safetensors file of the tensors that are not random; empty if there are none.
std::string blob_of(const ResolvedCase& sizes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Json header = Json::object();
  std::string data;
  for (const ResolvedTensor& tensor : sizes.tensors) {
    if (!tensor.is_input || is_random(tensor)) continue;
    const std::size_t begin = data.size();
    for (const double value : drawn(tensor, random)) append_value(data, tensor.dtype, value);
    header[tensor.name] = {{"dtype", safetensors_type(tensor.dtype)},
                           {"shape", tensor.shape},
                           {"data_offsets", {begin, data.size()}}};
  }
  if (header.empty()) return {};
  std::string text = header.dump(), bytes;
  text.append((8 - text.size() % 8) % 8, ' ');
  append(bytes, static_cast<std::uint64_t>(text.size()));
  return bytes + text + data;
}

// Explains why the inputs of a case cannot be written, or "".
std::string why_no_workload(const ResolvedCase& sizes) {
  for (const ResolvedTensor& tensor : sizes.tensors) {
    if (!tensor.is_input || is_random(tensor)) continue;
    if (tensor.elements > kLargestBlob) return tensor.name + " is too large for a file";
    if (is_floating(tensor.dtype) && tensor.dtype != DType::kFloat32)
      return tensor.name + " has a short type and values that are not normal";
  }
  return {};
}

class DefinitionWriter {
 public:
  DefinitionWriter(const RunLayout& run, fs::path folder) : run_(run), folder_(std::move(folder)) {}

  Result<std::string> write(const std::vector<Task>& tasks) {
    for (const Task& task : tasks) {
      const auto definition = parse_task_definition(task.definition_json);
      if (!definition) {
        leave_out(task.id, definition.error());
        continue;
      }
      KRL_TRY(write_task(*definition));
    }
    return fmt::format("{}: {} definitions, {} workloads, {} solutions, {} traces\n",
                       folder_.string(), definitions_, workloads_, solutions_, traces_) +
           notes_;
  }

 private:
  void leave_out(const std::string& what, const std::string& why) {
    notes_ += what + ": left out: " + why + "\n";
  }

  Status put(const fs::path& path, std::string_view text) {
    std::error_code error;
    fs::create_directories((folder_ / path).parent_path(), error);
    if (error)
      return invalid((folder_ / path).parent_path().string() +
                     ": cannot be made: " + error.message());
    return write_atomically(real_file_system(), folder_ / path, text, Durability::kFast);
  }

  Status put_json(const fs::path& path, const Json& json) {
    return put(path, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  Status write_task(const TaskDefinition& task) {
    const std::string name = plain_name(task.id);
    if (!names_.insert(name).second) {
      leave_out(task.id, "another task has the files of its name, " + name);
      return {};
    }
    const auto definition = definition_json(task, name);
    if (!definition) {
      leave_out(task.id, definition.error().message);
      return {};
    }
    KRL_TRY(put_json(fs::path("definitions") / kOpType / (name + ".json"), *definition));
    ++definitions_;
    std::vector<std::pair<std::string, Json>> by_label;
    KRL_TRY(write_workloads(task, name, *definition, by_label));
    return write_best(task, name, by_label);
  }

  // by_label: the workloads of the cases.
  Status write_workloads(const TaskDefinition& task, const std::string& name,
                         const Json& definition,
                         std::vector<std::pair<std::string, Json>>& by_label) {
    std::string lines;
    std::vector<IntegerNames> cases = task.cases;
    cases.insert(cases.end(), task.real.begin(), task.real.end());
    for (const IntegerNames& values : cases) {
      const auto sizes = resolve_case(task, values);
      if (!sizes) continue;  // a definition that was read has none
      if (const std::string why = why_no_workload(*sizes); !why.empty()) {
        leave_out(task.id + ", " + sizes->label, why);
        continue;
      }
      KRL_ASSIGN(const Json workload, workload_json(task, name, *sizes, definition));
      by_label.emplace_back(sizes->label, workload);
      lines += Json{{"definition", name},
                    {"workload", workload},
                    {"solution", nullptr},
                    {"evaluation", nullptr}}
                   .dump() +
               "\n";
      ++workloads_;
    }
    return put(fs::path("workloads") / kOpType / (name + ".jsonl"), lines);
  }

  Result<Json> workload_json(const TaskDefinition& task, const std::string& name,
                             const ResolvedCase& sizes, const Json& definition) {
    const std::string uuid = uuid_of(name + " " + sizes.label);
    const fs::path blob = fs::path("blob") / "workloads" / kOpType / name / (uuid + ".safetensors");
    const std::string bytes = blob_of(sizes, std::hash<std::string>{}(uuid));
    if (!bytes.empty()) KRL_TRY(put(blob, bytes));
    Json axes = Json::object(), inputs = Json::object();
    for (const auto& [axis, about] : definition.at("axes").items()) {
      if (about.at("type") == "var") axes[axis] = size_of_axis(task, sizes, definition, axis);
    }
    for (const TensorDefinition& input : task.inputs) {
      inputs[input.name] = {{"type", "random"}};
      if (!is_random(*sizes.find(input.name)))
        inputs[input.name] = {
            {"type", "safetensors"}, {"path", blob.string()}, {"tensor_key", input.name}};
    }
    for (const ResolvedScalar& scalar : sizes.scalars) {
      inputs[scalar.name] = {{"type", "scalar"}, {"value", scalar.integer}};
      if (is_floating(scalar.dtype)) inputs[scalar.name]["value"] = scalar.real;
    }
    return Json{{"uuid", uuid},
                {"axes", axes},
                {"inputs", inputs},
                {"tolerance",
                 {{"max_atol", task.tolerance.atol},
                  {"max_rtol", task.tolerance.rtol},
                  {"required_matched_ratio", 1.0}}}};
  }

  static std::int64_t size_of_axis(const TaskDefinition& task, const ResolvedCase& sizes,
                                   const Json& definition, const std::string& axis) {
    if (const auto known = sizes.axes.find(axis); known != sizes.axes.end()) return known->second;
    for (const TensorDefinition& input : task.inputs) {
      const Json& shape = definition.at("inputs").at(input.name).at("shape");
      for (std::size_t d = 0; d < shape.size(); ++d) {
        if (shape[d] == axis) return sizes.find(input.name)->shape[d];
      }
    }
    return 0;  // not reached: every axis is a task's or an input's
  }

  // ---- solutions and traces

  Status write_best(const TaskDefinition& task, const std::string& name,
                    const std::vector<std::pair<std::string, Json>>& workloads) {
    if (!task.naive.empty()) {
      KRL_TRY(write_solution(task, name, name + "_naive", "baseline", task.naive,
                             "The plain kernel of the task, over which speedups are."));
    }
    const fs::path file = run_.best() / (file_name_of_task(task.id) + ".json");
    std::error_code error;
    if (!fs::exists(file, error)) return {};
    KRL_ASSIGN(const std::string text, read_file(file));
    try {
      const nlohmann::json record = nlohmann::json::parse(text);
      const auto evaluation = record.at("evaluation").get<Evaluation>();
      const std::string solution = name + "_best";
      const std::string source = record.at("source");
      if (evaluation.contract == Contract::kHost) {
        leave_out(task.id + ", its best kernel", "it has host code of its own");
        return {};
      }
      const std::size_t before = solutions_;
      KRL_TRY(write_solution(task, name, solution, kAuthor, source,
                             fmt::format("The best kernel of a run of kernelrl, from iteration {}.",
                                         record.at("iteration").get<int>())));
      if (solutions_ == before) return {};
      return write_traces(name, solution, evaluation, workloads, fs::last_write_time(file));
    } catch (const std::exception&) {  // wrong types or names in it
      return invalid(file.string() + ": not a kernel of a run");
    }
  }

  Status write_solution(const TaskDefinition& task, const std::string& definition,
                        const std::string& name, const std::string& author,
                        const std::string& kernel, const std::string& description) {
    const auto source = launcher_source(task, kernel);
    if (!source) {
      leave_out(name, source.error().message);
      return {};
    }
    ++solutions_;
    return put_json(fs::path("solutions") / author / kOpType / definition / (name + ".json"),
                    Json{{"name", name},
                         {"definition", definition},
                         {"author", author},
                         {"description", description},
                         {"spec",
                          {{"language", "cuda"},
                           {"target_hardware", {"cuda"}},
                           {"entry_point", std::string("kernel.cu::") + kLauncherName},
                           {"dependencies", Json::array()},
                           {"destination_passing_style", true},
                           {"binding", "tvm-ffi"}}},
                         {"sources", {{{"path", "kernel.cu"}, {"content", *source}}}}});
  }

  // Writes traces of the cases that were timed: a passed trace must have a time.
  Status write_traces(const std::string& definition, const std::string& solution,
                      const Evaluation& evaluation,
                      const std::vector<std::pair<std::string, Json>>& workloads,
                      fs::file_time_type time) {
    std::string lines;
    for (const Case& c : evaluation.cases) {
      const auto workload = std::find_if(workloads.begin(), workloads.end(),
                                         [&](const auto& w) { return w.first == c.label; });
      if (c.kind != CaseKind::kShown || !c.passed() || !c.timed()) continue;
      if (workload == workloads.end()) continue;
      if (!std::isfinite(c.max_abs_error) || !std::isfinite(c.max_rel_error)) continue;
      lines += Json{{"definition", definition},
                    {"workload", workload->second},
                    {"solution", solution},
                    {"evaluation", evaluation_json(evaluation, c, time)}}
                   .dump() +
               "\n";
      ++traces_;
    }
    if (lines.empty()) {
      leave_out(solution + ", its traces", "no case of its evaluation was timed");
      return {};
    }
    return put(fs::path("traces") / kAuthor / kOpType / (definition + ".jsonl"), lines);
  }

  static Json evaluation_json(const Evaluation& evaluation, const Case& c,
                              fs::file_time_type time) {
    const auto clock = std::chrono::system_clock::now() +
                       std::chrono::duration_cast<std::chrono::system_clock::duration>(
                           time - fs::file_time_type::clock::now());
    const std::time_t seconds = std::chrono::system_clock::to_time_t(clock);
    std::tm utc = {};
    gmtime_r(&seconds, &utc);
    std::array<char, 32> text = {};
    std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
    const std::string device = evaluation.device.empty() ? evaluation.backend : evaluation.device;
    return {{"status", "PASSED"},
            {"environment",
             {{"hardware", device},
              {"libs", {{"kernelrl", KERNELRL_VERSION}, {"toolchain", evaluation.toolchain}}}}},
            {"timestamp", text.data()},
            {"log", c.estimated ? "times are estimated by a model, not measured" : ""},
            {"correctness",
             {{"max_relative_error", c.max_rel_error}, {"max_absolute_error", c.max_abs_error}}},
            {"performance",
             {{"latency_ms", c.time_ns / 1e6},
              {"reference_latency_ms", c.baseline_ns / 1e6},
              {"speedup_factor", c.baseline_ns / c.time_ns}}}};
  }

  const RunLayout& run_;
  fs::path folder_;
  std::string notes_;
  std::set<std::string> names_;  // names of the files
  std::size_t definitions_ = 0, workloads_ = 0, solutions_ = 0, traces_ = 0;
};

}  // namespace

Result<std::string> write_definitions(const std::vector<Task>& tasks, const RunLayout& run,
                                      const fs::path& folder) {
  return DefinitionWriter(run, folder).write(tasks);
}

}  // namespace krl::cli
