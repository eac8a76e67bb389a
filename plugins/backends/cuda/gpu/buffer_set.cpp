#include "plugins/backends/cuda/gpu/buffer_set.hpp"

#include <algorithm>
#include <bit>

namespace krl::cuda {
using namespace evaluator;
namespace {

constexpr std::uint64_t kGuardBytes = 4096;

// Puts one buffer after the other, a guard before each and after the last.
class Layout {
 public:
  explicit Layout(BufferSet* set) : set_(set) {}

  std::uint64_t place(const std::string& name, std::int64_t bytes) {
    const std::uint64_t start = aligned(end_ + kGuardBytes);
    guard_until(start);
    last_ = name;
    end_ = start + static_cast<std::uint64_t>(bytes);
    return start;
  }

  void close() {
    const std::uint64_t end = aligned(end_ + kGuardBytes);
    guard_until(end);
    set_->program.bytes = end;
  }

 private:
  void guard_until(std::uint64_t end) {
    set_->guards.push_back({end_, end - end_});
    set_->guard_names.push_back(last_);
  }

  BufferSet* set_;
  std::uint64_t end_ = 0;
  std::string last_;
};

std::array<std::uint32_t, 3> narrow(const Dim3& size) {
  return {static_cast<std::uint32_t>(size[0]), static_cast<std::uint32_t>(size[1]),
          static_cast<std::uint32_t>(size[2])};
}

std::uint64_t bits_of(const ResolvedScalar& scalar) {
  if (!is_floating(scalar.dtype)) return static_cast<std::uint64_t>(scalar.integer);
  return std::bit_cast<std::uint32_t>(static_cast<float>(scalar.real));
}

// Offsets at which the buffers of a case begin.
struct Places {
  const ResolvedCase& resolved;
  const std::vector<std::uint64_t>&tensors, &scratch;
};

gpu::Argument placed(const LaunchArgument& argument, const Places& places) {
  switch (argument.kind) {
    case LaunchArgument::kTensor:
      return {gpu::Argument::kAddress, places.tensors[argument.index]};
    case LaunchArgument::kScratch:
      return {gpu::Argument::kAddress, places.scratch[argument.index]};
    case LaunchArgument::kScalar:
      return {gpu::Argument::kValue, bits_of(places.resolved.scalars[argument.index])};
    case LaunchArgument::kTensorMap:
      return {gpu::Argument::kTensorMap, argument.index};
    case LaunchArgument::kInteger:
      break;
  }
  return {gpu::Argument::kValue, static_cast<std::uint64_t>(argument.integer)};
}

gpu::TensorMap placed(const ResolvedTensorMap& map, const Places& places) {
  gpu::TensorMap result;
  result.offset = placed(map.buffer, places).value;
  result.element_bytes = static_cast<std::uint64_t>(map.element_bytes);
  result.swizzle = static_cast<std::uint64_t>(map.swizzle);
  result.sizes.assign(map.sizes.begin(), map.sizes.end());
  result.box.assign(map.box.begin(), map.box.end());
  return result;
}

gpu::Launch placed(const ResolvedLaunch& launch, const ResolvedProgram& program,
                   const std::vector<std::string>& kernels, const Places& places) {
  gpu::Launch result;
  for (const ResolvedTensorMap& map : program.tensor_maps)
    result.tensor_maps.push_back(placed(map, places));
  result.kernel = static_cast<std::uint32_t>(
      std::find(kernels.begin(), kernels.end(), launch.kernel) - kernels.begin());
  result.grid = narrow(launch.grid);
  result.block = narrow(launch.block);
  result.shared_bytes = static_cast<std::uint32_t>(launch.shared_bytes);
  for (const LaunchArgument& argument : launch.arguments) {
    result.arguments.push_back(placed(argument, places));
  }
  return result;
}

}  // namespace

std::vector<gpu::Fill> fills_of(const PreparedTask& task, std::size_t case_index,
                                const std::vector<std::uint64_t>& offsets) {
  std::vector<gpu::Fill> fills;
  for (std::size_t i = 0; i < task.definition.inputs.size(); ++i) {
    const ResolvedTensor& tensor = task.cases[case_index].tensors[i];
    const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
    fills.push_back({tensor.name, offsets[i], static_cast<std::uint64_t>(tensor.elements),
                     static_cast<std::uint64_t>(row), static_cast<int>(tensor.dtype),
                     static_cast<int>(tensor.values), tensor.low, tensor.high,
                     static_cast<int>(tensor.structure)});
  }
  return fills;
}

BufferSet lay_out(const PreparedTask& task, std::size_t case_index, const ResolvedProgram& program,
                  const std::vector<std::string>& kernels) {
  const ResolvedCase& resolved = task.cases[case_index];
  BufferSet set;
  Layout layout(&set);
  std::vector<std::uint64_t> tensors, scratch;
  const auto blank = [&](std::uint64_t offset, std::int64_t bytes) {
    set.program.blank.push_back({offset, static_cast<std::uint64_t>(bytes)});
  };
  for (const ResolvedTensor& tensor : resolved.tensors) {
    tensors.push_back(layout.place(tensor.name, tensor.bytes()));
    const bool is_input = tensors.size() <= task.definition.inputs.size();
    if (!is_input) blank(tensors.back(), tensor.bytes());
  }
  for (const ResolvedScratch& buffer : program.scratch) {
    scratch.push_back(layout.place(buffer.name, buffer.bytes));
    blank(scratch.back(), buffer.bytes);
  }
  layout.close();
  set.tensor_offsets = tensors;
  set.program.inputs = fills_of(task, case_index, tensors);
  for (std::size_t i = 0; i < task.definition.inputs.size(); ++i) {
    const bool in_place = resolved.tensors[i].is_output;
    set.input_offsets.push_back(in_place ? -1 : static_cast<std::int64_t>(tensors[i]));
  }
  for (const TensorDefinition& output : task.definition.outputs) {
    const auto index = resolved.find(output.name) - resolved.tensors.data();
    set.output_offsets.push_back(tensors[static_cast<std::size_t>(index)]);
  }
  const Places places{resolved, tensors, scratch};
  for (const ResolvedLaunch& launch : program.launches) {
    set.program.launches.push_back(placed(launch, program, kernels, places));
  }
  return set;
}

BufferSet lay_out_host(const PreparedTask& task, std::size_t case_index) {
  const ResolvedCase& resolved = task.cases[case_index];
  BufferSet set = lay_out(task, case_index, {}, {});
  gpu::HostArguments& arguments = set.program.host;
  arguments.inputs = static_cast<int>(task.definition.inputs.size());
  for (std::size_t t = 0; t < resolved.tensors.size(); ++t) {
    const ResolvedTensor& tensor = resolved.tensors[t];
    arguments.tensors.push_back(
        {set.tensor_offsets[t], static_cast<int>(tensor.dtype), tensor.shape});
  }
  for (const TensorDefinition& output : task.definition.outputs) {
    arguments.outputs.push_back(
        static_cast<int>(resolved.find(output.name) - resolved.tensors.data()));
  }
  for (const ResolvedScalar& scalar : resolved.scalars) {
    arguments.scalars.push_back({static_cast<int>(scalar.dtype), scalar.real, scalar.integer});
  }
  for (const Axis& axis : task.definition.axes) {
    if (axis.is_variable()) arguments.axes.push_back(resolved.axes.at(axis.name));
  }
  return set;
}

}  // namespace krl::cuda
