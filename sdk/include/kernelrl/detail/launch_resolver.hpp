// Resolves launch directives for a case; see launch.hpp, which includes this.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/detail/triton_launch.hpp>
#include <kernelrl/launch.hpp>

namespace krl {

class LaunchResolver {
 public:
  LaunchResolver(const LaunchProgram& program, const ResolvedCase& resolved_case,
                 const LaunchLimits& limits)
      : program_(program), case_(resolved_case), limits_(limits), names_(resolved_case.axes) {
    for (const ResolvedTensor& tensor : case_.tensors)
      names_[tensor.name + ".size"] = tensor.elements;
    for (const ResolvedScalar& scalar : case_.scalars) {
      if (!is_floating(scalar.dtype)) names_[scalar.name] = scalar.integer;
    }
  }

  Checked<ResolvedProgram, SourceError> resolve() {
    for (const ScratchDirective& scratch : program_.scratch) {
      if (!resolve_scratch(scratch)) return error_;
    }
    for (const TensorMapDirective& map : program_.tensor_maps) {
      if (!resolve_tensor_map(map)) return error_;
    }
    for (const LaunchDirective& launch : program_.launches) {
      if (!resolve_launch(launch)) return error_;
    }
    return std::move(result_);
  }

 private:
  bool fail(const PlacedExpression& at, std::string message, std::size_t offset = 0) {
    error_ = {at.line, at.column + static_cast<int>(offset), std::move(message)};
    return false;
  }
  bool fail(const PlacedExpression& at, const TextError& error) {
    return fail(at, error.message, error.offset);
  }

  bool integer(const PlacedExpression& placed, std::int64_t* out) {
    const Checked<std::int64_t> value = placed.expression.integer(names_);
    if (!value) return fail(placed, value.error());
    *out = *value;
    return true;
  }

  bool resolve_scratch(const ScratchDirective& directive) {
    ResolvedScratch scratch{directive.name, 0, 0};
    if (!integer(directive.elements, &scratch.elements)) return false;
    if (scratch.elements < 1) {
      return fail(directive.elements, "the scratch buffer '" + scratch.name + "' would have " +
                                          std::to_string(scratch.elements) + " elements");
    }
    if (scratch.elements > (limits_.scratch_bytes - scratch_bytes_) / directive.element_bytes) {
      return fail(directive.elements, "the scratch buffers take more than " +
                                          std::to_string(limits_.scratch_bytes) +
                                          " bytes together");
    }
    scratch.bytes = scratch.elements * directive.element_bytes;
    scratch_bytes_ += scratch.bytes;
    names_[scratch.name + ".size"] = scratch.elements;
    result_.scratch.push_back(std::move(scratch));
    return true;
  }

  bool resolve_tensor_map(const TensorMapDirective& directive) {
    ResolvedTensorMap map;
    map.name = directive.name;
    const auto wrong = [&](const std::string& what) {
      error_ = {directive.line, directive.column, "the tensor map '" + map.name + "': " + what};
      return false;
    };
    const std::size_t tensor = index_of(case_.tensors, directive.buffer);
    const std::size_t scratch = index_of(result_.scratch, directive.buffer);
    const bool is_tensor = tensor < case_.tensors.size();
    map.buffer.kind = is_tensor ? LaunchArgument::kTensor : LaunchArgument::kScratch;
    map.buffer.index = is_tensor ? tensor : scratch;
    const std::int64_t elements =
        is_tensor ? case_.tensors[tensor].elements : result_.scratch[scratch].elements;
    map.element_bytes =
        is_tensor ? size_of(case_.tensors[tensor].dtype) : program_.scratch[scratch].element_bytes;
    if (map.element_bytes > 8)
      return wrong("elements of " + std::to_string(map.element_bytes) + " bytes; at most 8");
    std::int64_t covered = 1;
    for (std::size_t i = 0; i < directive.sizes.size(); ++i) {
      map.sizes.emplace_back();
      map.box.emplace_back();
      if (!integer(directive.sizes[i], &map.sizes[i]) || !integer(directive.box[i], &map.box[i]))
        return false;
      if (map.sizes[i] < 1 || map.sizes[i] > elements / covered) {
        return wrong("its sizes have more elements than " + directive.buffer + ", which has " +
                     std::to_string(elements) + ", or none");
      }
      covered *= map.sizes[i];
      if (map.box[i] < 1 || map.box[i] > kMostBox)
        return wrong("a box of " + std::to_string(map.box[i]) + "; each size is 1 to 256");
    }
    const std::int64_t row = map.sizes.back() * map.element_bytes;
    // A kernel that looks at the sizes may do without it.
    if (map.sizes.size() > 1 && row % kBulkBytes != 0) map.sizes.clear();
    const std::int64_t box_row = map.box.back() * map.element_bytes;
    if (box_row % kBulkBytes != 0) {
      return wrong("a box with rows of " + std::to_string(box_row) +
                   " bytes; they must be a multiple of 16");
    }
    if (!integer(directive.swizzle, &map.swizzle)) return false;
    if (map.swizzle != 0 && map.swizzle != 32 && map.swizzle != 64 && map.swizzle != 128)
      return wrong("swizzle " + std::to_string(map.swizzle) + "; it is 0, 32, 64 or 128");
    if (map.swizzle != 0 && box_row != map.swizzle) {
      return wrong("a box with rows of " + std::to_string(box_row) + " bytes; with swizzle " +
                   std::to_string(map.swizzle) + " they have so many");
    }
    std::int64_t box_bytes = map.element_bytes;
    for (const std::int64_t size : map.box) box_bytes *= size;
    if (box_bytes > limits_.shared_bytes) {
      return wrong("a box of " + std::to_string(box_bytes) + " bytes; shared memory has at most " +
                   std::to_string(limits_.shared_bytes));
    }
    result_.tensor_maps.push_back(std::move(map));
    return true;
  }

  bool dimensions(const PlacedExpression& placed, const char* what, const Dim3& limit,
                  const IntegerNames& names, Dim3* out) {
    const Checked<Dim3> value = placed.expression.dim3(names);
    if (!value) return fail(placed, value.error());
    *out = *value;
    for (std::size_t i = 0; i < out->size(); ++i) {
      const std::int64_t size = (*out)[i];
      if (size >= 1 && size <= limit[i]) continue;
      return fail(placed, std::string(what) + "." + "xyz"[i] + " is " + std::to_string(size) +
                              "; it must be 1 to " + std::to_string(limit[i]));
    }
    return true;
  }

  bool resolve_launch(const LaunchDirective& directive) {
    ResolvedLaunch launch;
    launch.kernel = directive.kernel;
    launch.line = directive.line;
    launch.column = directive.column;
    std::vector<std::string> constants;  // only Triton has any, and its grid may name them
    IntegerNames with_constants;
    const bool any = !directive.constants.empty();
    if (any && !resolve_constants(directive, &constants, &with_constants)) return false;
    const IntegerNames& names = any ? with_constants : names_;
    if (!dimensions(directive.grid, "grid", limits_.grid, names, &launch.grid)) return false;
    if (program_.language == Language::kTriton && !check_warps(directive.block)) return false;
    if (!dimensions(directive.block, "block", limits_.block, names_, &launch.block)) return false;
    const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
    if (threads > limits_.threads_per_block) {
      return fail(directive.block, "the block has " + std::to_string(threads) +
                                       " threads; at most " +
                                       std::to_string(limits_.threads_per_block) + " are possible");
    }
    if (!integer(directive.shared, &launch.shared_bytes)) return false;
    if (launch.shared_bytes < 0 || launch.shared_bytes > limits_.shared_bytes) {
      return fail(directive.shared,
                  "dynamic shared memory is " + std::to_string(launch.shared_bytes) +
                      " bytes; it must be 0 to " + std::to_string(limits_.shared_bytes));
    }
    for (const PlacedExpression& argument : directive.arguments) {
      if (!resolve_argument(argument, &launch)) return false;
    }
    if (program_.language == Language::kTriton) specialize(constants, &launch);
    result_.launches.push_back(std::move(launch));
    return true;
  }

  // `block`: 32 times num_warps.
  bool check_warps(const PlacedExpression& block) {
    std::int64_t threads = 0;
    if (!integer(block, &threads)) return false;
    const std::int64_t warps = threads / 32;
    if (warps >= 1 && warps <= 32 && (warps & (warps - 1)) == 0) return true;
    return fail(block,
                "num_warps is " + std::to_string(warps) + "; it must be a power of 2, at most 32");
  }

  // Spells each constant, "BLOCK=1024", and adds the integers to a copy of the names.
  bool resolve_constants(const LaunchDirective& directive, std::vector<std::string>* spelled,
                         IntegerNames* names) {
    *names = names_;
    for (const LaunchConstant& constant : directive.constants) {
      std::int64_t value = 0;
      if (constant.literal.empty() && !integer(constant.value, &value)) return false;
      if (constant.literal.empty()) (*names)[constant.name] = value;
      spelled->push_back(constant.name + "=" +
                         (constant.literal.empty() ? std::to_string(value) : constant.literal));
    }
    return true;
  }

  // Names a kernel of Triton by what it is compiled for, and leaves only the arguments that the
  // compiled kernel takes: an integer 1 is compiled in, and two pointers to memory that Triton may
  // ask for come last.
  void specialize(const std::vector<std::string>& constants, ResolvedLaunch* launch) const {
    std::vector<std::string> parts;
    std::vector<LaunchArgument> taken;
    for (const LaunchArgument& argument : launch->arguments) {
      parts.push_back(specialized_type(argument));
      if (parts.back() != "1") taken.push_back(argument);
    }
    parts.insert(parts.end(), constants.begin(), constants.end());
    std::string joined;
    for (const std::string& part : parts) joined += (joined.empty() ? "" : ", ") + part;
    launch->kernel += "(" + joined + ")";
    const LaunchArgument null{LaunchArgument::kInteger, 0, 0, launch->line, launch->column};
    taken.insert(taken.end(), 2, null);
    launch->arguments = std::move(taken);
  }

  // The type by which Triton compiles a parameter for this value. Buffers begin at multiples of 256.
  std::string specialized_type(const LaunchArgument& argument) const {
    const auto of_integer = [](std::string_view type, std::int64_t value) {
      return value == 1 ? "1" : std::string(type) + (value % 16 == 0 ? ":16" : "");
    };
    switch (argument.kind) {
      case LaunchArgument::kTensor:
        return "*" + std::string(triton_type(name_of(case_.tensors[argument.index].dtype))) + ":16";
      case LaunchArgument::kScratch:
        return "*" + std::string(triton_type(program_.scratch[argument.index].type)) + ":16";
      case LaunchArgument::kScalar: {
        const ResolvedScalar& scalar = case_.scalars[argument.index];
        const std::string_view type = triton_type(name_of(scalar.dtype));
        return is_floating(scalar.dtype) ? std::string(type) : of_integer(type, scalar.integer);
      }
      case LaunchArgument::kInteger:
      case LaunchArgument::kTensorMap:  // Triton has none
        break;
    }
    const bool narrow = argument.integer == static_cast<std::int32_t>(argument.integer);
    return of_integer(narrow ? "i32" : "i64", argument.integer);
  }

  // Returns the index of the entry with this name; the list's size if there is none.
  template <class List>
  static std::size_t index_of(const List& list, const std::string& name) {
    const auto found = std::find_if(list.begin(), list.end(),
                                    [&](const auto& entry) { return entry.name == name; });
    return static_cast<std::size_t>(found - list.begin());
  }

  bool resolve_argument(const PlacedExpression& placed, ResolvedLaunch* launch) {
    LaunchArgument argument;
    argument.line = placed.line;
    argument.column = placed.column;
    const std::string& name = placed.expression.text();
    const std::size_t tensor = index_of(case_.tensors, name);
    const std::size_t scratch = index_of(result_.scratch, name);
    const std::size_t scalar = index_of(case_.scalars, name);
    const std::size_t map = index_of(result_.tensor_maps, name);
    if (tensor < case_.tensors.size()) {
      argument.kind = LaunchArgument::kTensor;
      argument.index = tensor;
    } else if (scratch < result_.scratch.size()) {
      argument.kind = LaunchArgument::kScratch;
      argument.index = scratch;
    } else if (scalar < case_.scalars.size()) {
      argument.kind = LaunchArgument::kScalar;
      argument.index = scalar;
    } else if (map < result_.tensor_maps.size()) {
      argument.kind = LaunchArgument::kTensorMap;
      argument.index = map;
    } else if (!integer(placed, &argument.integer)) {
      return false;
    }
    launch->arguments.push_back(argument);
    return true;
  }

  static constexpr std::int64_t kMostBox = 256, kBulkBytes = 16;

  const LaunchProgram& program_;
  const ResolvedCase& case_;
  const LaunchLimits& limits_;
  IntegerNames names_;
  std::int64_t scratch_bytes_ = 0;
  ResolvedProgram result_;
  SourceError error_;
};

inline Checked<ResolvedProgram, SourceError> resolve_launches(const LaunchProgram& program,
                                                              const ResolvedCase& resolved_case,
                                                              const LaunchLimits& limits) {
  return LaunchResolver(program, resolved_case, limits).resolve();
}

}  // namespace krl
