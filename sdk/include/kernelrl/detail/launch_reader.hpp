// Finds and reads launch directives; see launch.hpp, which includes this.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/cuda_source.hpp>
#include <kernelrl/detail/default_launch.hpp>
#include <kernelrl/detail/directive_reader.hpp>
#include <kernelrl/detail/triton_launch.hpp>
#include <kernelrl/launch.hpp>
#include <kernelrl/spelling.hpp>

namespace krl {

class LaunchReader {
 public:
  LaunchReader(const ScannedSource& source, const TaskDefinition& task)
      : task_(task),
        source_(source),
        kernels_(is_triton() ? find_triton_kernels(source) : find_kernels(source)) {}

  Checked<LaunchProgram, SourceError> read() {
    program_.language = source_.language;
    for (const LineComment& comment : source_.comments) {
      if (!read_comment(comment)) return *error_;
    }
    if (program_.launches.empty() && source_.language != Language::kCuda)
      return SourceError{1, 1, no_launch()};
    if (program_.launches.empty()) {
      Checked<LaunchDirective, SourceError> launch = default_launch(kernels_, task_);
      if (!launch) return launch.error();
      program_.launches.push_back(*std::move(launch));
    }
    if (!check_names()) return *error_;
    return std::move(program_);
  }

 private:
  static constexpr std::string_view kLaunchForm = "// @launch kernel<<<grid, block>>>(arguments)";
  std::string scratch_form() const {
    return std::string(is_triton() ? "#" : "//") + " @scratch name type[elements]";
  }
  static constexpr std::size_t kMaxDirectives = 32;  // limit per kind
  static constexpr std::size_t kMaxArguments = 64;
  static constexpr std::size_t kMostRank = 5;

  struct ScratchType {
    std::string_view name;
    std::int64_t bytes;
  };
  static constexpr std::array<ScratchType, 27> kCudaTypes = {{{"float", 4},
                                                              {"int", 4},
                                                              {"unsigned", 4},
                                                              {"unsigned int", 4},
                                                              {"double", 8},
                                                              {"long long", 8},
                                                              {"unsigned long long", 8},
                                                              {"half", 2},
                                                              {"__half", 2},
                                                              {"__nv_bfloat16", 2},
                                                              {"char", 1},
                                                              {"signed char", 1},
                                                              {"unsigned char", 1},
                                                              {"bool", 1},
                                                              {"short", 2},
                                                              {"unsigned short", 2},
                                                              {"int32_t", 4},
                                                              {"uint32_t", 4},
                                                              {"int64_t", 8},
                                                              {"uint64_t", 8},
                                                              {"uint8_t", 1},
                                                              {"float2", 8},
                                                              {"float4", 16},
                                                              {"int2", 8},
                                                              {"int4", 16},
                                                              {"uint4", 16},
                                                              {"double2", 16}}};

  bool is_triton() const { return source_.language == Language::kTriton; }

  // Only CUDA C++ needs no directive, since its kernels say which of their parameters are pointers.
  std::string no_launch() const {
    return std::string(name_of(source_.language)) +
           " does not say what runs: begin with the line `" +
           (is_triton() ? std::string(TritonLaunchReader::kForm)
                        : "// @launch entry<<<grid, block>>>(arguments)") +
           "`";
  }

  bool fail(int line, int column, std::string message) {
    error_ = SourceError{line, column, std::move(message)};
    return false;
  }

  bool read_comment(const LineComment& comment) {
    if (!comment.starts_line) return true;
    const std::size_t at = comment.text.find_first_not_of(" \t");
    if (at == std::string::npos || comment.text[at] != '@') return true;
    std::size_t end = at + 1;
    while (end < comment.text.size() && DirectiveReader::is_word(comment.text[end])) ++end;
    const std::string keyword = comment.text.substr(at + 1, end - at - 1);
    const int column = comment.column + static_cast<int>(at);
    if (keyword != "launch" && keyword != "scratch" && keyword != "tensor_map") {
      const std::string meant = closest_name(keyword, {"launch", "scratch", "tensor_map"});
      return meant.empty() ||
             fail(comment.line, column,
                  "unknown directive '@" + keyword + "'; did you mean '@" + meant + "'?");
    }
    if (comment.spliced) return fail(comment.line, column, "a directive must stand on one line");
    DirectiveReader reader(std::string_view(comment.text).substr(end), comment.line,
                           comment.column + static_cast<int>(end));
    if (keyword == "scratch") {
      read_scratch(&reader);
    } else if (keyword == "tensor_map") {
      read_tensor_map(&reader, comment.line);
    } else if (is_triton()) {
      add_launch(TritonLaunchReader(kernels_, &reader, comment.line).read(), &reader);
    } else {
      read_launch(&reader, comment.line);
    }
    if (reader.error()) error_ = reader.error();
    return !reader.error();
  }

  void read_launch(DirectiveReader* reader, int line) {
    LaunchDirective launch;
    launch.line = line;
    reader->skip_blanks();
    launch.column = reader->column();
    const std::size_t begin = reader->position();
    launch.kernel = reader->up_to("<<<");
    if (const std::size_t wrong = wrong_in_arguments(launch.kernel); wrong != std::string::npos) {
      return reader->fail_at(
          begin + wrong, "'" + launch.kernel.substr(wrong, 1) + "' in the arguments of a template");
    }
    if (!is_kernel_name(launch.kernel)) {
      return reader->fail_at(
          0, "expected the name of a kernel: a directive is `" + std::string(kLaunchForm) + "`");
    }
    reader->expect("<<<", kLaunchForm);
    if (reader->error()) return;
    const int shape_column = reader->column();
    std::vector<PlacedExpression> shape = reader->expressions(">>>");
    if (reader->error()) return;
    if (shape.size() < 2 || shape.size() > 3) {
      reader->fail("<<<…>>> takes grid, block and perhaps shared bytes, not " +
                   std::to_string(shape.size()) + " values");
      return;
    }
    launch.grid = std::move(shape[0]);
    launch.block = std::move(shape[1]);
    launch.shared =
        shape.size() == 3 ? std::move(shape[2]) : PlacedExpression{{}, line, shape_column};
    reader->expect("(", kLaunchForm);
    if (reader->error()) return;
    launch.arguments = reader->expressions(")");
    add_launch(std::move(launch), reader);
  }

  void add_launch(LaunchDirective launch, DirectiveReader* reader) {
    if (launch.arguments.size() > kMaxArguments)
      reader->fail("a launch takes at most 64 arguments");
    if (program_.launches.size() == kMaxDirectives)
      reader->fail("a candidate has at most 32 launches");
    reader->expect_end();
    program_.launches.push_back(std::move(launch));
  }

  static bool is_in_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
  }

  // An optionally qualified name with optional template arguments.
  static bool is_kernel_name(std::string_view name) {
    const std::size_t open = name.find('<');
    const std::string_view base = name.substr(0, open);
    if (base.empty() || std::isdigit(static_cast<unsigned char>(base[0])) != 0) return false;
    if (!std::all_of(base.begin(), base.end(), is_in_name)) return false;
    return open == std::string_view::npos || name.back() == '>';
  }

  // Returns the place in a kernel's template arguments of text that is neither expression nor type
  // and could end the declaration that the name becomes a part of; npos if there is none.
  static std::size_t wrong_in_arguments(std::string_view name) {
    constexpr std::string_view kOperators = " ,<>-*+/%&|^!~?=.()";
    int depth = 0;
    for (std::size_t i = (std::min)(name.find('<'), name.size()); i < name.size(); ++i) {
      const char c = name[i];
      const bool comment =
          c == '/' && i + 1 < name.size() && (name[i + 1] == '/' || name[i + 1] == '*');
      const bool character = c == '\'' && i + 2 < name.size() && name[i + 2] == '\'';
      depth += c == '(' ? 1 : c == ')' ? -1 : 0;
      if (comment || depth < 0) return i;
      if (character && name[i + 1] != '\\' && name[i + 1] != '\'') {
        i += 2;
      } else if (!is_in_name(c) && kOperators.find(c) == std::string_view::npos) {
        return i;
      }
    }
    return depth == 0 ? std::string_view::npos : name.rfind('(');
  }

  void read_scratch(DirectiveReader* reader) {
    ScratchDirective scratch;
    scratch.name =
        reader->identifier("the name of the buffer: a directive is `" + scratch_form() + "`");
    if (reader->error()) return;
    reader->skip_blanks();
    const std::size_t type_position = reader->position();
    scratch.type = reader->up_to("[");
    std::vector<std::string> known;
    const auto look_at = [&](std::string_view name, std::int64_t bytes) {
      known.emplace_back(name);
      if (name == scratch.type) scratch.element_bytes = bytes;
    };
    if (is_triton()) {
      for (const TritonType& type : kTritonTypes) look_at(type.name, type.bytes);
    } else {
      for (const ScratchType& type : kCudaTypes) look_at(type.name, type.bytes);
    }
    if (scratch.element_bytes == 0) {
      return reader->fail_at(
          type_position, "unknown type '" + scratch.type + "'" + did_you_mean(scratch.type, known));
    }
    reader->expect("[", scratch_form());
    std::vector<PlacedExpression> elements = reader->expressions("]");
    if (reader->error()) return;
    if (elements.size() != 1) return reader->fail("a scratch buffer has one size");
    scratch.elements = std::move(elements[0]);
    if (program_.scratch.size() == kMaxDirectives)
      reader->fail("a candidate has at most 32 scratch buffers");
    reader->expect_end();
    program_.scratch.push_back(std::move(scratch));
  }

  void read_tensor_map(DirectiveReader* reader, int line) {
    constexpr std::string_view kForm = "// @tensor_map name buffer[sizes] box[sizes] swizzle bytes";
    if (is_triton()) return reader->fail("Triton makes its tensor maps itself");
    TensorMapDirective map;
    map.line = line;
    reader->skip_blanks();
    map.column = reader->column();
    map.name =
        reader->identifier("the name of the map: a directive is `" + std::string(kForm) + "`");
    if (reader->error()) return;
    map.buffer = reader->identifier("the name of a buffer");
    reader->expect("[", kForm);
    if (!reader->error()) map.sizes = reader->expressions("]");
    reader->expect("box", kForm);
    reader->expect("[", kForm);
    if (!reader->error()) map.box = reader->expressions("]");
    reader->skip_blanks();
    map.swizzle = PlacedExpression{{}, line, reader->column()};
    if (reader->at("swizzle")) {
      reader->expect("swizzle", kForm);
      reader->skip_blanks();
      const std::size_t start = reader->position();
      const std::string bytes = reader->up_to(";");
      if (!reader->error()) map.swizzle = reader->expression({bytes, start});
    }
    if (reader->error()) return;
    if (map.sizes.empty() || map.sizes.size() > kMostRank)
      return reader->fail("a tensor map has 1 to 5 sizes");
    if (map.box.size() != map.sizes.size()) {
      return reader->fail("a box has as many sizes as its tensor: " +
                          std::to_string(map.sizes.size()));
    }
    if (program_.tensor_maps.size() == kMaxDirectives)
      reader->fail("a candidate has at most 32 tensor maps");
    reader->expect_end();
    program_.tensor_maps.push_back(std::move(map));
  }

  // ---- names, once every directive is read ----

  // The names of numbers (usable in expressions) and of things that an argument can be besides.
  void collect_names() {
    for (const Axis& axis : task_.axes) numbers_.push_back(axis.name);
    for (const ScalarDefinition& scalar : task_.scalars) {
      (is_floating(scalar.dtype) ? things_ : numbers_).push_back(scalar.name);
    }
    for (const std::vector<TensorDefinition>* list : {&task_.inputs, &task_.outputs}) {
      for (const TensorDefinition& tensor : *list) add_buffer(tensor.name);
    }
  }

  void add_buffer(const std::string& name) {
    things_.push_back(name);
    numbers_.push_back(name + ".size");
  }

  bool is_buffer(const std::string& name) const { return contains(numbers_, name + ".size"); }

  static bool contains(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  bool check_names() {
    collect_names();
    for (const ScratchDirective& scratch : program_.scratch) {
      const PlacedExpression& at = scratch.elements;
      if (contains(numbers_, scratch.name) || contains(things_, scratch.name)) {
        return fail(at.line, at.column,
                    "the name of the scratch buffer '" + scratch.name + "' is taken");
      }
      if (!check_expression(at)) return false;
      add_buffer(scratch.name);
    }
    if (!check_tensor_maps()) return false;
    for (const LaunchDirective& launch : program_.launches) {
      if (!check_kernel(launch) || !check_shape(launch)) return false;
      for (const PlacedExpression& argument : launch.arguments) {
        const bool thing =
            argument.expression.is_name() && contains(things_, argument.expression.text());
        if (!thing && !check_expression(argument, true)) return false;
      }
    }
    return true;
  }

  bool check_tensor_maps() {
    std::vector<std::string> buffers = things_;
    const auto is_scalar = [&](const std::string& name) { return !is_buffer(name); };
    buffers.erase(std::remove_if(buffers.begin(), buffers.end(), is_scalar), buffers.end());
    for (const TensorMapDirective& map : program_.tensor_maps) {
      if (contains(numbers_, map.name) || contains(things_, map.name))
        return fail(map.line, map.column, "the name of the tensor map '" + map.name + "' is taken");
      if (!is_buffer(map.buffer)) {
        return fail(map.line, map.column,
                    "unknown buffer '" + map.buffer + "'" + did_you_mean(map.buffer, buffers));
      }
      for (const std::vector<PlacedExpression>* list : {&map.sizes, &map.box}) {
        for (const PlacedExpression& size : *list)
          if (!check_expression(size)) return false;
      }
      if (!check_expression(map.swizzle)) return false;
      things_.push_back(map.name);
    }
    return true;
  }

  bool check_shape(const LaunchDirective& launch) {
    for (const LaunchConstant& constant : launch.constants) {
      if (!check_expression(constant.value)) return false;
    }
    return check_expression(launch.grid, false, launch.constants) &&
           check_expression(launch.block) && check_expression(launch.shared);
  }

  bool check_expression(const PlacedExpression& placed, bool argument = false,
                        const std::vector<LaunchConstant>& constants = {}) {
    for (const Expression::NameUse& use : placed.expression.names()) {
      const auto is_used = [&](const LaunchConstant& constant) {
        return constant.name == use.name;
      };
      if (contains(numbers_, use.name)) continue;
      if (std::any_of(constants.begin(), constants.end(), is_used)) continue;
      const int column = placed.column + static_cast<int>(use.offset);
      if (contains(things_, use.name)) {
        return fail(placed.line, column,
                    "'" + use.name + "' is not an integer" + (argument ? ": pass it alone" : ""));
      }
      std::vector<std::string> known = numbers_;
      if (argument) known.insert(known.begin(), things_.begin(), things_.end());
      return fail(placed.line, column,
                  "unknown name '" + use.name + "'" + did_you_mean(use.name, known));
    }
    return true;
  }

  // A kernel that a macro defines is found by its name alone; a name that is nowhere in the text is
  // an error.
  bool check_kernel(const LaunchDirective& launch) {
    std::string base = launch.kernel.substr(0, launch.kernel.find('<'));
    base = base.substr(base.rfind(':') + 1);
    if (source_.mentions(base)) return true;
    std::vector<std::string> known;
    for (const KernelHead& kernel : kernels_) known.push_back(kernel.name);
    return fail(launch.line, launch.column,
                "no kernel is called '" + base + "'" + did_you_mean(base, known));
  }

  const TaskDefinition& task_;
  const ScannedSource& source_;
  std::vector<KernelHead> kernels_;
  LaunchProgram program_;
  std::vector<std::string> numbers_, things_;
  std::optional<SourceError> error_;
};

inline Checked<LaunchProgram, SourceError> read_launches(const ScannedSource& source,
                                                         const TaskDefinition& task) {
  return LaunchReader(source, task).read();
}

inline Checked<LaunchProgram, SourceError> read_launches(std::string_view source,
                                                         const TaskDefinition& task) {
  return read_launches(scan_candidate(source), task);
}

}  // namespace krl
