#include "plugins/backends/cuda/worker/input_use.hpp"

#include <algorithm>
#include <optional>

namespace krl::gpu {
using namespace evaluator;
namespace {

constexpr double kExtreme = 1e6, kExtremeHalf = 3e4;

// One element of an input, far from all others or, where only some values are valid, another one.
std::optional<Fill> changed(const Fill& input, std::uint64_t element) {
  const auto kind = static_cast<ValueKind>(input.values);
  const bool is_real = kind == ValueKind::kNormal || kind == ValueKind::kUniform ||
                       kind == ValueKind::kUniformSigned;
  const auto dtype = static_cast<DType>(input.dtype);
  if (!is_real && kind != ValueKind::kIntegers) return std::nullopt;
  if (input.structure != 0) return std::nullopt;
  Fill change = input;
  change.offset += element * static_cast<std::uint64_t>(size_of(dtype));
  change.elements = change.row = 1;
  if (!is_real) return change;
  change.values = static_cast<int>(ValueKind::kUniform);
  change.low = change.high = dtype == DType::kFloat16 ? kExtremeHalf : kExtreme;
  return change;
}

}  // namespace

std::vector<double> InputUse::shares(const UseInputs& use) {
  memory_ = allocate(2 * use.program.bytes);
  run(use, memory_.get(), {});
  std::vector<double> shares;
  for (const Fill& input : use.program.inputs) {
    std::uint64_t followed = 0;
    for (std::uint64_t t = 0; t < use.tries; ++t) {
      const auto element = mix_seed(mix_seed(use.seed, input.name), t) % input.elements;
      const auto change = changed(input, element);
      if (change && follows(use, *change)) ++followed;
    }
    shares.push_back(static_cast<double>(followed) / static_cast<double>(use.tries));
  }
  memory_ = {};
  return shares;
}

void InputUse::run(const UseInputs& use, CUdeviceptr set, const std::vector<Fill>& change) {
  session_.lay_out(set, use.program, {0}, {{use.seed}}, 0);
  session_.fill(set, change, {use.seed + 1});
  session_.launch(use.program, set);
}

bool InputUse::follows(const UseInputs& use, const Fill& change) {
  const CUdeviceptr before = memory_.get(), after = before + use.program.bytes;
  run(use, after, {change});
  const auto right = check_.expected(use.check);
  std::vector<DeviceComparison> comparisons;
  std::uint64_t longest = 0;
  for (std::size_t o = 0; o < use.check.reference.outputs.size(); ++o) {
    const OracleTensor& output = use.check.reference.outputs[o];
    const std::uint64_t offset = use.output_offsets.at(o), elements = elements_of(output);
    comparisons.push_back({after + offset, before + offset, right->memory.get() + output.rounding,
                           elements, use.check.atol, use.check.rtol,
                           static_cast<std::int32_t>(output.dtype),
                           is_floating(output.dtype) ? 1 : 0});
    longest = std::max(longest, elements);
  }
  CUdeviceptr all = comparisons_.upload(comparisons);
  CUdeviceptr different = different_.upload(std::vector<std::uint64_t>(comparisons.size()));
  void* arguments[] = {&all, &different};
  launch_trusted(compare_, comparisons.size(), longest, arguments);
  std::vector<std::uint64_t> found(comparisons.size());
  KRL_CUDA(cuMemcpyDtoH, found.data(), different, found.size() * sizeof found[0]);
  return std::any_of(found.begin(), found.end(), [](std::uint64_t n) { return n != 0; });
}

}  // namespace krl::gpu
