#include "plugins/backends/evaluator/oracle/reference.hpp"

#include <torch/csrc/jit/api/compilation_unit.h>
#include <torch/csrc/jit/api/function_impl.h>
#include <torch/csrc/jit/frontend/error_report.h>
#include <torch/csrc/jit/ir/ir.h>
#include <torch/csrc/jit/runtime/graph_executor.h>
#include <torch/csrc/jit/runtime/profiling_graph_executor_impl.h>
#include <torch/jit.h>

#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <ATen/ops/_unique.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/searchsorted.h>
#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "plugins/backends/evaluator/oracle/expected_output.hpp"
#include "plugins/backends/evaluator/oracle/nudges.hpp"

namespace krl::evaluator {
namespace {

at::ScalarType torch_type(DType type) {
  switch (type) {
    case DType::kFloat32:
      return at::kFloat;
    case DType::kFloat16:
      return at::kHalf;
    case DType::kBFloat16:
      return at::kBFloat16;
    case DType::kInt32:
      return at::kInt;
    case DType::kInt64:
      return at::kLong;
    case DType::kBool:
      return at::kBool;
  }
  return at::kFloat;
}

std::string shape_text(at::IntArrayRef shape) {
  std::ostringstream text;
  text << shape;
  return text.str();
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// The line of `reference` that holds `quoted`, from 1; 0 if none does.
int find_line(std::string_view reference, std::string_view quoted) {
  const std::string_view wanted = trimmed(quoted);
  int number = 0;
  for (std::size_t start = 0; !wanted.empty() && start <= reference.size();) {
    ++number;
    const std::size_t end = std::min(reference.find('\n', start), reference.size());
    if (trimmed(reference.substr(start, end - start)) == wanted) return number;
    start = end + 1;
  }
  return 0;
}

// libtorch quotes the source around an error and marks the place: "    ~~~~ <--- HERE" below the
// line. The message is the first line with a text of its own.
ReferenceProblem located(const std::string& error, const std::string& reference) {
  ReferenceProblem problem;
  std::istringstream lines(error);
  std::string quoted;
  for (std::string line; std::getline(lines, line);) {
    const auto mark = line.find("<--- HERE");
    if (mark != std::string::npos) {
      problem.line = find_line(reference, quoted);
      problem.column = static_cast<int>(line.find('~')) + 1;
      continue;
    }
    if (line.find('~') == std::string::npos) quoted = line;
    const bool is_frame = line.rfind("Traceback", 0) == 0 || line.rfind("  File", 0) == 0 ||
                          line.rfind("The following operation failed", 0) == 0;
    const auto reason = line.find("Error: ");
    if (reason != std::string::npos) problem.message = line.substr(reason + 7);
    if (problem.message.empty() && !is_frame) problem.message = line;
  }
  return problem;
}

[[noreturn]] void refuse(const std::string& message) { throw std::runtime_error(message); }

// TorchScript that is compiled without Python knows no names of types, only their numbers. Floating
// types are refused: a value cast to one is no longer computed in float64.
std::string with_numbers_of_types(std::string text) {
  const std::pair<std::string_view, at::ScalarType> types[] = {
      {"bool", at::kBool},   {"uint8", at::kByte},        {"int8", at::kChar},
      {"int16", at::kShort}, {"int32", at::kInt},         {"int64", at::kLong},
      {"int", at::kInt},     {"long", at::kLong},         {"float16", at::kHalf},
      {"half", at::kHalf},   {"bfloat16", at::kBFloat16}, {"float32", at::kFloat},
      {"float", at::kFloat}, {"float64", at::kDouble},    {"double", at::kDouble}};
  const std::string_view prefix = "torch.";
  const auto is_word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (std::size_t at = text.find(prefix); at != std::string::npos;
       at = text.find(prefix, at + 1)) {
    if (at > 0 && (is_word(text[at - 1]) || text[at - 1] == '.')) continue;
    std::size_t end = at + prefix.size();
    while (end < text.size() && is_word(text[end])) ++end;
    const auto name = std::string_view(text).substr(at + prefix.size(), end - at - prefix.size());
    const auto* const type = std::ranges::find(types, name, [](const auto& t) { return t.first; });
    if (type == std::end(types) || (end < text.size() && text[end] == '(')) continue;
    if (c10::isFloatingType(type->second)) {
      refuse("torch." + std::string(name) +
             " in the reference: use the type of an input, such as x.dtype, "
             "since expected values are computed in float64");
    }
    text.replace(at, end - at, std::to_string(static_cast<int>(type->second)));
  }
  return text;
}

// Refuses operations that draw numbers: those that may be given a generator, and those that PyTorch
// lists. Without this, their failure would depend on the sandbox.
void refuse_random(const torch::jit::Block& block) {
  for (const torch::jit::Node* node : block.nodes()) {
    const auto* const schema = node->maybeSchema();
    const bool takes_generator =
        schema != nullptr && schema->argumentIndexWithName("generator").has_value();
    if (takes_generator || node->isNondeterministic()) {
      throw torch::jit::ErrorReport(node->sourceRange())
          << "the reference draws random numbers; its outputs must follow from its inputs";
    }
    for (const torch::jit::Block* inner : node->blocks()) refuse_random(*inner);
  }
}

std::shared_ptr<torch::jit::CompilationUnit> compile(const std::string& text) {
  auto unit = torch::jit::compile(with_numbers_of_types(text));
  for (torch::jit::Function* function : unit->get_functions())
    refuse_random(*torch::jit::toGraphFunction(*function).graph()->block());
  return unit;
}

std::vector<at::Tensor> as_list(const c10::IValue& value) {
  if (value.isTensor()) return {value.toTensor()};
  if (!value.isTuple()) refuse("the reference returns neither a tensor nor a tuple of tensors");
  std::vector<at::Tensor> tensors;
  for (const c10::IValue& element : value.toTupleRef().elements()) {
    if (!element.isTensor())
      refuse("the reference returns a tuple with elements that are not tensors");
    tensors.push_back(element.toTensor());
  }
  return tensors;
}

at::TensorOptions options_of(ReferenceDevice device, at::ScalarType type) {
  return at::TensorOptions(type).device(device == ReferenceDevice::kCuda ? at::kCUDA : at::kCPU);
}

// Copies of the inputs, the floating ones in `precision`, or as they are; and the scalars. `nudges`
// perturbs the inputs that are continuous.
using Nudge = std::function<at::Tensor(const at::Tensor&, std::int64_t place)>;
std::vector<c10::IValue> arguments_of(const OracleRequest& request, std::byte* memory,
                                      ReferenceDevice device,
                                      std::optional<at::ScalarType> precision,
                                      const Nudge& nudge = nullptr) {
  std::vector<c10::IValue> arguments;
  for (const OracleTensor& input : request.inputs) {
    const at::Tensor seen = at::from_blob(memory + input.offset, input.shape,
                                          options_of(device, torch_type(input.dtype)));
    const bool converted = precision && is_floating(input.dtype);
    const auto place = static_cast<std::int64_t>(arguments.size());
    if (nudge && converted && input.continuous) {
      arguments.emplace_back(nudge(seen.to(*precision), place));
    } else {
      arguments.emplace_back(converted ? seen.to(*precision, false, true) : seen.clone());
    }
  }
  for (const OracleScalar& scalar : request.scalars) {
    if (is_floating(scalar.dtype)) arguments.emplace_back(scalar.real);
    if (!is_floating(scalar.dtype)) arguments.emplace_back(scalar.integer);
  }
  return arguments;
}

void check_output(const OracleTensor& declared, const at::Tensor& got, std::size_t index) {
  const std::string which = "output " + std::to_string(index) + " of the reference";
  if (got.sizes() != at::IntArrayRef(declared.shape)) {
    refuse(which + " has shape " + shape_text(got.sizes()) + ", but the task declares " +
           shape_text(declared.shape));
  }
  const bool same_kind = is_floating(declared.dtype) == got.is_floating_point() &&
                         (declared.dtype == DType::kBool) == (got.scalar_type() == at::kBool);
  if (!same_kind) {
    refuse(which + " has type " + std::string(c10::toString(got.scalar_type())) +
           ", but the task declares " + std::string(name_of(declared.dtype)));
  }
}

// Values of one output from all runs of a reference.
struct Results {
  at::Tensor exact;                // in float64, or in float32 if that is the expected precision
  std::vector<at::Tensor> single;  // in float32: on the same inputs, then on nudged ones; or none
  std::vector<at::Tensor> little;  // in float64, if values repeat: on inputs nudged by less
  bool copies = false;             // in float32 it consists of elements of the inputs
};

// True where a tiny nudge moves a result as far as a nudge of one ulp does: a tie was broken.
at::Tensor jumps_in(const at::Tensor& errors, const at::Tensor& little) {
  return little.gt(errors.mul(std::sqrt(Nudges::kLittle)));
}

// |result - exact|; 0 where that is no number.
at::Tensor error_of(const at::Tensor& result, const at::Tensor& exact) {
  return result.to(at::kDouble).sub(exact).abs_().nan_to_num_(0.0, 0.0, 0.0);
}

// Returns the largest error that the runs in float32 made in each element.
at::Tensor largest_errors(const Results& results) {
  at::Tensor largest = error_of(results.single.front(), results.exact);
  for (std::size_t run = 1; run < results.single.size(); ++run) {
    at::Tensor errors = error_of(results.single[run], results.exact);
    if (!results.little.empty()) {
      const at::Tensor little = error_of(results.little[run - 1], results.exact);
      errors.masked_fill_(jumps_in(errors, little), 0.0);
    }
    at::maximum_out(largest, largest, errors);
  }
  return largest;
}

// Returns the error that rounding may cause in each element: see kRoundingFactor.
at::Tensor rounding_of(Results results, double terms) {
  results.exact = results.exact.to(at::kDouble);  // a reference may return a shorter type
  if (results.copies) return at::zeros_like(results.exact);
  const at::Tensor first = error_of(results.single.front(), results.exact);
  if (first.count_nonzero().item<std::int64_t>() == 0) {
    terms = 1;
  } else if (!results.little.empty()) {
    terms *= terms;
  }
  at::Tensor errors = largest_errors(results);
  const at::Tensor size = results.exact.abs().nan_to_num_(0.0, 0.0, 0.0);
  at::maximum_out(errors, errors, errors.mean());
  return errors.add_(size, kUnitRoundoff).mul_(kRoundingFactor * std::sqrt(terms));
}

// The least integer results from converting a NaN or an infinity: then any is right.
at::Tensor defined(const OracleTensor& output, const at::Tensor& integers) {
  if (output.choices == 1 || output.dtype != DType::kInt32) return integers;
  const at::Tensor wide = integers.to(at::kLong);
  return wide.masked_fill(wide.eq(std::numeric_limits<std::int32_t>::min()), kAnyInteger);
}

void store(const OracleTensor& output, const Results& results, double terms, std::byte* memory,
           ReferenceDevice device) {
  const auto put = [&](std::uint64_t offset, at::ScalarType type, const at::Tensor& values) {
    at::from_blob(memory + offset, output.shape, options_of(device, type)).copy_(values);
  };
  if (!is_floating(output.dtype)) {
    const auto array = static_cast<std::uint64_t>(results.exact.numel()) * sizeof(std::int64_t);
    for (std::size_t c = 0; c < static_cast<std::size_t>(output.choices); ++c) {
      const bool is_other = c > 0 && c <= results.single.size();
      put(output.offset + c * array, at::kLong,
          defined(output, is_other ? results.single[c - 1] : results.exact));
    }
    return;
  }
  // A value beyond the output's type is an infinity there.
  const at::Tensor stored = results.exact.to(torch_type(output.dtype)).to(at::kDouble);
  put(output.offset, at::kDouble, at::where(stored.isinf(), stored, results.exact));
  put(output.rounding, at::kFloat,
      results.single.empty() ? at::zeros_like(results.exact) : rounding_of(results, terms));
}

// An error is next to zero by luck at times: where there are few elements, more draws see to it.
// Where there are many, their mean does, unless a few err far more than most.
std::int64_t draws_of(const OracleRequest& request) {
  constexpr std::int64_t kFew = 64, kLeast = 2, kMost = Nudges::kMostDraws;
  std::int64_t draws = kLeast;
  for (const OracleTensor& output : request.outputs) {
    std::int64_t elements = 1;
    for (const std::int64_t size : output.shape) elements *= size;
    draws = std::max(draws, std::min(kMost, kFew / std::max<std::int64_t>(elements, 1)));
  }
  return draws;
}

// True if all sampled elements occur in the inputs (compared in float32).
bool is_copied(const at::Tensor& result, const std::vector<c10::IValue>& inputs) {
  constexpr std::int64_t kSample = 256;
  if (!result.is_floating_point() || result.numel() == 0) return false;
  const at::Tensor elements = result.reshape(-1);
  const std::int64_t step = (elements.numel() + kSample - 1) / kSample;
  const at::Tensor sample = std::get<0>(at::_unique(elements.slice(0, 0, elements.numel(), step)));
  at::Tensor found = at::zeros_like(sample, at::kBool);
  for (const c10::IValue& input : inputs) {
    if (!input.isTensor() || !input.toTensor().is_floating_point()) continue;
    const at::Tensor values = input.toTensor().reshape(-1);
    const at::Tensor places = at::searchsorted(sample, values).clamp_max_(sample.numel() - 1);
    found.index_fill_(0, places.masked_select(sample.take(places).eq(values)), true);
  }
  return found.all().item<bool>();
}

// The calls of a reference that an answer is made of.
class ReferenceRuns {
 public:
  using Outputs = std::vector<at::Tensor>;
  using Call = std::function<Outputs(at::ScalarType precision, const Nudge& nudge)>;

  // `inputs`: in float32, to tell whether outputs are copies of their elements.
  ReferenceRuns(const OracleRequest& request, const std::vector<c10::IValue>& inputs,
                Nudges* nudges, const Call& call)
      : request_(request) {
    const bool in_single = request.terms == 0;
    exact_ = call(in_single ? at::kFloat : at::kDouble, nullptr);
    require_as_many();
    const bool reals = std::ranges::any_of(
        request.outputs, [](const OracleTensor& o) { return is_floating(o.dtype); });
    const bool integers =
        std::ranges::any_of(request.outputs, [](const OracleTensor& o) { return o.choices > 1; });
    if (in_single || !(reals || integers)) return;
    single_.push_back(call(at::kFloat, nullptr));
    for (std::size_t o = 0; o < exact_.size(); ++o) {
      const at::Tensor& result = single_.front()[o];
      copies_.push_back(is_copied(result, inputs) &&
                        at::equal(result.to(at::kDouble), exact_[o].to(at::kDouble)));
    }
    if (request.repeats && integers) run_with_ties(call);
    std::int64_t draws = integers && !request.repeats ? kIntegerDraws : 0;
    if (rounds()) draws = draws_of(request);
    run_nudged(call, nudges, 0, draws);
    if (rounds() && draws < Nudges::kMostDraws && errs_unevenly())
      run_nudged(call, nudges, draws, Nudges::kMostDraws);
  }

  const Outputs& exact() const { return exact_; }

  Results of(std::size_t output) const {
    const bool is_integer = !is_floating(request_.outputs[output].dtype);
    Results results{exact_[output], {}, {}, !copies_.empty() && copies_[output]};
    for (const Outputs& run : is_integer && !tied_.empty() ? tied_ : single_)
      results.single.push_back(run[output]);
    for (const Outputs& run : little_) results.little.push_back(run[output]);
    return results;
  }

 private:
  void require_as_many() const {
    if (exact_.size() == request_.outputs.size()) return;
    refuse("the reference returns " + std::to_string(exact_.size()) +
           " tensors, the task declares " + std::to_string(request_.outputs.size()));
  }

  bool rounds() const {
    for (std::size_t o = 0; o < copies_.size(); ++o) {
      if (is_floating(request_.outputs[o].dtype) && !copies_[o]) return true;
    }
    return false;
  }

  void run_nudged(const Call& call, Nudges* nudges, std::int64_t first, std::int64_t end) {
    for (std::int64_t draw = first; draw < end; ++draw) {
      const Nudge nudge = [nudges, draw](const at::Tensor& values, std::int64_t place) {
        return nudges->moved(values, draw, place);
      };
      single_.push_back(call(at::kFloat, nudge));
      if (request_.repeats) little_.push_back(call(at::kDouble, nudge));
    }
  }

  // True if a few elements err far more than most: the mean is no least error for them then.
  bool errs_unevenly() const {
    constexpr double kUneven = 1000;
    for (std::size_t o = 0; o < exact_.size(); ++o) {
      if (!is_floating(request_.outputs[o].dtype) || copies_[o]) continue;
      Results results = of(o);
      results.exact = results.exact.to(at::kDouble);
      const at::Tensor errors = largest_errors(results);
      if (errors.max().gt(errors.mean().mul(kUneven)).item<bool>()) return true;
    }
    return false;
  }

  void run_with_ties(const Call& call) {
    tied_ = single_;
    for (std::int64_t draw = 0; draw < kIntegerDraws; ++draw) {
      tied_.push_back(call(at::kFloat, [draw](const at::Tensor& values, std::int64_t) {
        return Nudges::moved_by_value(values, draw);
      }));
    }
  }

  const OracleRequest& request_;
  Outputs exact_;
  std::vector<bool> copies_;     // for each output: it copies input elements, so nothing is rounded
  std::vector<Outputs> single_;  // in float32: on the same inputs, then on nudged ones
  std::vector<Outputs> little_;  // in float64, if values repeat: the same nudges, but smaller
  std::vector<Outputs> tied_;    // in float32, for integers if values repeat
};

// Makes float32 mean float32, unless PyTorch's own result is expected exactly.
void choose_convolutions(const OracleRequest& request) {
  at::globalContext().setAllowTF32CuDNN(request.terms == 0);
}

// Once a process.
bool prepare_libtorch() {
  at::set_num_threads(1);
  at::set_num_interop_threads(1);
  // References run a few times each: interpreting them is cheaper than optimising them.
  torch::jit::getProfilingMode() = false;
  torch::jit::setGraphExecutorOptimize(false);
  return true;
}

}  // namespace

struct ReferenceStore::Compiled {
  std::string text;
  std::shared_ptr<torch::jit::CompilationUnit> unit;
};

ReferenceStore::ReferenceStore(ReferenceDevice device)
    : device_(device), nudges_(std::make_unique<Nudges>()) {
  [[maybe_unused]] static const bool prepared = prepare_libtorch();
}

ReferenceStore::~ReferenceStore() = default;

ReferenceStore::Compiled& ReferenceStore::compiled(const std::string& text) {
  constexpr std::size_t kMost = 64;
  const auto known = std::find_if(compiled_.begin(), compiled_.end(),
                                  [&](const Compiled& c) { return c.text == text; });
  if (known != compiled_.end()) {
    compiled_.splice(compiled_.begin(), compiled_, known);
  } else {
    compiled_.push_front({text, compile(text)});
    if (compiled_.size() > kMost) compiled_.pop_back();
  }
  return compiled_.front();
}

std::optional<ReferenceProblem> ReferenceStore::compute(const OracleRequest& request,
                                                        std::byte* memory) {
  try {
    const c10::InferenceMode no_gradients;
    torch::jit::setGraphExecutorOptimize(false);  // applies to this thread
    choose_convolutions(request);
    torch::jit::Function* function = compiled(request.reference).unit->find_function("run");
    if (function == nullptr) refuse("the reference has no function 'run'");
    const auto inputs = request.strict ? arguments_of(request, memory, device_, at::kFloat)
                                       : std::vector<c10::IValue>();
    const ReferenceRuns runs(
        request, inputs, nudges_.get(), [&](at::ScalarType precision, const Nudge& nudge) {
          return as_list((*function)(arguments_of(request, memory, device_, precision, nudge)));
        });
    for (std::size_t i = 0; i < request.outputs.size(); ++i) {
      check_output(request.outputs[i], runs.exact()[i], i);
      store(request.outputs[i], runs.of(i), request.terms, memory, device_);
    }
    return std::nullopt;
  } catch (const c10::Error& error) {
    return located(error.what_without_backtrace(), request.reference);
  } catch (const std::exception& error) {
    return located(error.what(), request.reference);
  }
}

std::function<void()> ReferenceStore::callable(const OracleRequest& request, std::byte* memory) {
  const c10::InferenceMode no_gradients;
  choose_convolutions(request);
  const auto unit = compiled(request.reference).unit;
  return [unit, arguments = arguments_of(request, memory, device_, std::nullopt)] {
    const c10::InferenceMode still_none;
    unit->get_function("run")(arguments);
  };
}

bool ReferenceStore::drop_unused_memory() {
  if (device_ != ReferenceDevice::kCuda) return false;
  const auto held = [] {
    return at::accelerator::getDeviceStats(at::accelerator::getDeviceIndex())
        .reserved_bytes[0]
        .current;
  };
  try {
    const std::int64_t before = held();
    at::accelerator::emptyCache();
    return held() < before;
  } catch (const c10::Error&) {  // no reference has used the GPU yet
    return false;
  }
}

}  // namespace krl::evaluator
