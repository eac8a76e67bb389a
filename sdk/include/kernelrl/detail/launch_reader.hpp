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
#include <kernelrl/launch.hpp>
#include <kernelrl/spelling.hpp>

namespace krl {

// The text of one directive after its keyword, read from left to right. The first error is kept.
class DirectiveReader {
 public:
  // `text` starts at `column` of `line`.
  DirectiveReader(std::string_view text, int line, int column)
      : text_(text), line_(line), column_(column) {}

  const std::optional<SourceError>& error() const { return error_; }
  std::size_t position() const { return position_; }
  int column() const { return column_ + static_cast<int>(position_); }

  void fail(std::string message) { fail_at(position_, std::move(message)); }
  void fail_at(std::size_t position, std::string message) {
    if (!error_)
      error_ = SourceError{line_, column_ + static_cast<int>(position), std::move(message)};
  }

  void skip_blanks() {
    while (position_ < text_.size() && (text_[position_] == ' ' || text_[position_] == '\t'))
      ++position_;
  }

  bool at(std::string_view text) const { return text_.substr(position_, text.size()) == text; }

  void expect(std::string_view text, std::string_view form) {
    skip_blanks();
    if (at(text)) {
      position_ += text.size();
    } else {
      fail("expected '" + std::string(text) + "': a directive is `" + std::string(form) + "`");
    }
  }

  void expect_end() {
    skip_blanks();
    if (at(";")) ++position_;
    skip_blanks();
    if (position_ < text_.size()) fail("nothing may follow the directive on its line");
  }

  std::string identifier(std::string_view what) {
    skip_blanks();
    const std::size_t start = position_;
    while (position_ < text_.size() && is_word(text_[position_])) ++position_;
    const bool valid =
        position_ > start && std::isdigit(static_cast<unsigned char>(text_[start])) == 0;
    if (!valid) fail_at(start, "expected " + std::string(what));
    return std::string(text_.substr(start, position_ - start));
  }

  // Everything up to `stop`, which is left unread; without blanks at either end.
  std::string up_to(std::string_view stop) {
    skip_blanks();
    const std::size_t found = (std::min)(text_.find(stop, position_), text_.size());
    std::string_view piece = text_.substr(position_, found - position_);
    while (!piece.empty() && (piece.back() == ' ' || piece.back() == '\t')) piece.remove_suffix(1);
    position_ = found;
    return std::string(piece);
  }

  // Comma-separated expressions up to `close`, which is consumed.
  std::vector<PlacedExpression> expressions(std::string_view close) {
    std::vector<PlacedExpression> list;
    skip_blanks();
    while (!error_ && !at(close)) {
      list.push_back(expression(close));
      if (at(",")) {
        ++position_;
        if (skip_blanks(); at(close)) fail("expected another expression after ','");
      } else if (!at(close)) {
        fail("expected ',' or '" + std::string(close) + "'");
      }
    }
    position_ += error_ ? 0 : close.size();
    return list;
  }

 private:
  static bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  }

  // One expression, up to a comma or `close` outside of brackets.
  PlacedExpression expression(std::string_view close) {
    skip_blanks();
    const std::size_t start = position_;
    int depth = 0;
    for (; position_ < text_.size(); ++position_) {
      if (depth == 0 && (at(",") || at(close))) break;
      depth += at("(") ? 1 : at(")") ? -1 : 0;
    }
    PlacedExpression placed{{}, line_, column_ + static_cast<int>(start)};
    std::string_view piece = text_.substr(start, position_ - start);
    while (!piece.empty() && (piece.back() == ' ' || piece.back() == '\t')) piece.remove_suffix(1);
    Checked<Expression> parsed = Expression::parse(piece);
    if (parsed) {
      placed.expression = *std::move(parsed);
    } else {
      fail_at(start + parsed.error().offset, parsed.error().message);
    }
    return placed;
  }

  std::string_view text_;
  int line_, column_;
  std::size_t position_ = 0;
  std::optional<SourceError> error_;
};

class LaunchReader {
 public:
  LaunchReader(const CudaSource& source, const TaskDefinition& task)
      : task_(task), source_(source), kernels_(find_kernels(source)) {}

  Checked<LaunchProgram, SourceError> read() {
    for (const LineComment& comment : source_.comments) {
      if (!read_comment(comment)) return *error_;
    }
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
  static constexpr std::string_view kScratchForm = "// @scratch name type[elements]";
  static constexpr std::size_t kMaxDirectives = 32;  // limit per kind
  static constexpr std::size_t kMaxArguments = 64;

  struct ScratchType {
    std::string_view name;
    std::int64_t bytes;
  };
  static constexpr std::array<ScratchType, 27> kScratchTypes = {{{"float", 4},
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

  bool fail(int line, int column, std::string message) {
    error_ = SourceError{line, column, std::move(message)};
    return false;
  }

  bool read_comment(const LineComment& comment) {
    if (!comment.starts_line) return true;
    const std::size_t at = comment.text.find_first_not_of(" \t");
    if (at == std::string::npos || comment.text[at] != '@') return true;
    std::size_t end = at + 1;
    while (end < comment.text.size() &&
           std::isalpha(static_cast<unsigned char>(comment.text[end])) != 0)
      ++end;
    const std::string keyword = comment.text.substr(at + 1, end - at - 1);
    const int column = comment.column + static_cast<int>(at);
    if (keyword != "launch" && keyword != "scratch") {
      const std::string meant = closest_name(keyword, {"launch", "scratch"});
      return meant.empty() ||
             fail(comment.line, column,
                  "unknown directive '@" + keyword + "'; did you mean '@" + meant + "'?");
    }
    if (comment.spliced) return fail(comment.line, column, "a directive must stand on one line");
    DirectiveReader reader(std::string_view(comment.text).substr(end), comment.line,
                           comment.column + static_cast<int>(end));
    keyword == "launch" ? read_launch(&reader, comment.line) : read_scratch(&reader);
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
    scratch.name = reader->identifier("the name of the buffer: a directive is `" +
                                      std::string(kScratchForm) + "`");
    if (reader->error()) return;
    reader->skip_blanks();
    const std::size_t type_position = reader->position();
    scratch.type = reader->up_to("[");
    const auto same = [&](const ScratchType& type) { return type.name == scratch.type; };
    const auto type = std::find_if(kScratchTypes.begin(), kScratchTypes.end(), same);
    if (type == kScratchTypes.end()) {
      std::vector<std::string> known;
      known.reserve(kScratchTypes.size());
      for (const ScratchType& candidate : kScratchTypes) known.emplace_back(candidate.name);
      const std::string hint = did_you_mean(scratch.type, known);
      return reader->fail_at(type_position, "unknown type '" + scratch.type + "'" + hint);
    }
    scratch.element_bytes = type->bytes;
    reader->expect("[", kScratchForm);
    std::vector<PlacedExpression> elements = reader->expressions("]");
    if (reader->error()) return;
    if (elements.size() != 1) return reader->fail("a scratch buffer has one size");
    scratch.elements = std::move(elements[0]);
    if (program_.scratch.size() == kMaxDirectives)
      reader->fail("a candidate has at most 32 scratch buffers");
    reader->expect_end();
    program_.scratch.push_back(std::move(scratch));
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

  bool check_shape(const LaunchDirective& launch) {
    return check_expression(launch.grid) && check_expression(launch.block) &&
           check_expression(launch.shared);
  }

  bool check_expression(const PlacedExpression& placed, bool argument = false) {
    for (const Expression::NameUse& use : placed.expression.names()) {
      if (contains(numbers_, use.name)) continue;
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
  const CudaSource& source_;
  std::vector<KernelHead> kernels_;
  LaunchProgram program_;
  std::vector<std::string> numbers_, things_;
  std::optional<SourceError> error_;
};

inline Checked<LaunchProgram, SourceError> read_launches(const CudaSource& source,
                                                         const TaskDefinition& task) {
  return LaunchReader(source, task).read();
}

inline Checked<LaunchProgram, SourceError> read_launches(std::string_view source,
                                                         const TaskDefinition& task) {
  return read_launches(scan_cuda_source(source), task);
}

}  // namespace krl
