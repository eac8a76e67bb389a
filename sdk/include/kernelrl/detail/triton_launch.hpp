// Launch directives of Triton: `# @launch kernel[(grid,)](arguments, NAME=constant)`; see launch.hpp,
// which includes this.
#pragma once

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kernelrl/detail/directive_reader.hpp>
#include <kernelrl/python_source.hpp>
#include <kernelrl/spelling.hpp>

namespace krl {

// A type of elements: as Python calls it, as Triton's compiler does, and its size.
struct TritonType {
  std::string_view name, spelling;
  std::int64_t bytes;
};

inline constexpr std::array<TritonType, 12> kTritonTypes = {{{"float32", "fp32", 4},
                                                             {"float16", "fp16", 2},
                                                             {"bfloat16", "bf16", 2},
                                                             {"float64", "fp64", 8},
                                                             {"int64", "i64", 8},
                                                             {"int32", "i32", 4},
                                                             {"int16", "i16", 2},
                                                             {"int8", "i8", 1},
                                                             {"uint64", "u64", 8},
                                                             {"uint32", "u32", 4},
                                                             {"uint8", "u8", 1},
                                                             {"bool", "i1", 1}}};

// REQUIRES: one of these names.
inline std::string_view triton_type(std::string_view name) {
  const auto same = [&](const TritonType& type) { return type.name == name; };
  return std::find_if(kTritonTypes.begin(), kTritonTypes.end(), same)->spelling;
}

// Reads one directive after its keyword. An error is the reader's.
class TritonLaunchReader {
 public:
  static constexpr std::string_view kForm = "# @launch kernel[(grid,)](arguments)";

  TritonLaunchReader(const std::vector<KernelHead>& kernels, DirectiveReader* reader, int line)
      : kernels_(kernels), reader_(*reader), line_(line) {}

  LaunchDirective read() {
    reader_.skip_blanks();
    launch_.line = line_;
    launch_.column = reader_.column();
    const std::size_t name = reader_.position();
    launch_.kernel =
        reader_.identifier("the name of a kernel: a directive is `" + std::string(kForm) + "`");
    const KernelHead* head = find_kernel(name);
    reader_.expect("[", kForm);
    if (reader_.error()) return {};
    read_grid();
    reader_.expect("]", kForm);
    reader_.expect("(", kForm);
    if (reader_.error()) return {};
    reader_.each(")", [&](const DirectivePiece& piece) { read_argument(piece); });
    if (!reader_.error()) bind(*head, name);
    return std::move(launch_);
  }

 private:
  // The name of an argument is empty if it is given by its position.
  struct Argument {
    std::string name;
    LaunchConstant value;
    std::size_t start = 0;
  };

  static constexpr std::string_view kOptions[] = {"num_warps", "num_stages", "maxnreg"};

  static bool is_option(std::string_view name) {
    return std::find(std::begin(kOptions), std::end(kOptions), name) != std::end(kOptions);
  }

  const KernelHead* find_kernel(std::size_t at) {
    std::vector<std::string> known;
    for (const KernelHead& kernel : kernels_) {
      if (kernel.name == launch_.kernel) return &kernel;
      known.push_back(kernel.name);
    }
    reader_.fail_at(at, "no function with @triton.jit is called '" + launch_.kernel + "'" +
                            did_you_mean(launch_.kernel, known));
    return nullptr;
  }

  // `(a, b)`, `(a,)` or `a`.
  void read_grid() {
    reader_.skip_blanks();
    const std::size_t start = reader_.position();
    std::string text = reader_.up_to("]");
    if (is_tuple(text)) {
      text.pop_back();
      while (!text.empty() && (text.back() == ' ' || text.back() == ',')) text.pop_back();
      constexpr std::string_view kCall = "dim3";
      text = std::string(kCall) + text + ")";
      launch_.grid = expression({text, start - kCall.size()});  // where its text would begin
    } else {
      launch_.grid = expression({text, start});
    }
  }

  // True if the first bracket closes with the last character.
  static bool is_tuple(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
      if (depth == 0) return i > 0 && i + 1 == text.size();
    }
    return false;
  }

  // An expression with Python's words for it, each replaced by one of the same length.
  PlacedExpression expression(const DirectivePiece& piece) {
    constexpr std::pair<std::string_view, std::string_view> kWords[] = {
        {"//", " /"},
        {"triton.cdiv", "   ceil_div"},
        {"triton.next_power_of_2", "             next_pow2"}};
    std::string text(piece.text);
    for (const auto& [word, meaning] : kWords) {
      for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at))
        text.replace(at, word.size(), meaning);
    }
    return reader_.expression({text, piece.start});
  }

  void read_argument(const DirectivePiece& piece) {
    Argument argument;
    argument.start = piece.start;
    std::size_t value = 0;
    while (value < piece.text.size() && DirectiveReader::is_word(piece.text[value])) ++value;
    const std::string_view word = piece.text.substr(0, value);
    value = (std::min)(piece.text.find_first_not_of(" \t", value), piece.text.size());
    if (!word.empty() && piece.text.substr(value, 1) == "=" &&
        piece.text.substr(value, 2) != "==") {
      argument.name = argument.value.name = std::string(word);
      value = (std::min)(piece.text.find_first_not_of(" \t", value + 1), piece.text.size());
    } else {
      value = 0;
    }
    const DirectivePiece rest{piece.text.substr(value), piece.start + value};
    if (is_literal(rest.text)) {
      argument.value.literal = std::string(rest.text);
    } else {
      argument.value.value = expression(rest);
    }
    arguments_.push_back(std::move(argument));
  }

  // True, "relu", 0.5, tl.float16: constants of Python that are no integers.
  static bool is_literal(std::string_view text) {
    if (text.empty()) return false;
    if (text == "True" || text == "False" || text == "None") return true;
    const auto all = [&](auto allowed) { return std::all_of(text.begin(), text.end(), allowed); };
    if (text.substr(0, 3) == "tl.")
      return all([](char c) { return c == '.' || DirectiveReader::is_word(c); });
    if (text[0] == '"' || text[0] == '\'') {
      const std::string_view inside = text.substr(1, text.size() - 2);
      return text.size() > 1 && text.back() == text[0] && inside.find(text[0]) == inside.npos &&
             all([](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
    }
    return is_real(text);
  }

  // 0.5, -1e-3: digits with a point, an exponent or both.
  static bool is_real(std::string_view text) {
    std::size_t at = text[0] == '-' || text[0] == '+' ? 1 : 0;
    const auto take_digits = [&] {
      const std::size_t begin = at;
      while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0) ++at;
      return at - begin;
    };
    const auto take = [&](std::string_view any) {
      const bool there = at < text.size() && any.find(text[at]) != any.npos;
      at += there ? 1 : 0;
      return there;
    };
    const std::size_t before = take_digits();
    const bool point = take(".");
    const std::size_t after = point ? take_digits() : 0;
    const bool exponent = take("eE");
    if (exponent) take("+-");
    if (exponent && take_digits() == 0) return false;
    return at == text.size() && before + after > 0 && (point || exponent);
  }

  // Gives each parameter its argument, as Python would.
  void bind(const KernelHead& head, std::size_t at) {
    std::vector<const Argument*> given(head.parameters.size());
    std::size_t position = 0;
    for (const Argument& argument : arguments_) {
      if (argument.name.empty()) {
        if (position == given.size()) return reader_.fail_at(argument.start, takes(head));
        given[position++] = &argument;
        continue;
      }
      const auto same = [&](const KernelParameter& p) { return p.name == argument.name; };
      const auto found = std::find_if(head.parameters.begin(), head.parameters.end(), same);
      if (found != head.parameters.end()) {
        const Argument*& place = given[static_cast<std::size_t>(found - head.parameters.begin())];
        if (place != nullptr)
          return reader_.fail_at(argument.start, "'" + argument.name + "' is given twice");
        place = &argument;
        if (argument.name == "num_warps") set_block(argument.value.value);  // a parameter as well
      } else if (!take_option(head, argument)) {
        return;
      }
    }
    for (std::size_t i = 0; i < given.size(); ++i) {
      if (!take(head.parameters[i], given[i], at)) return;
    }
    launch_.constants.insert(launch_.constants.end(), options_.begin(), options_.end());
  }

  static std::string takes(const KernelHead& head) {
    return head.name + " takes " + std::to_string(head.parameters.size()) + " arguments";
  }

  // A word that says how the kernel is compiled.
  bool take_option(const KernelHead& head, const Argument& argument) {
    if (is_option(argument.name)) {
      if (!argument.value.literal.empty()) {
        reader_.fail_at(argument.start, argument.name + " is an integer");
        return false;
      }
      options_.push_back(argument.value);
      if (argument.name == "num_warps") set_block(argument.value.value);
      return true;
    }
    std::vector<std::string> known(std::begin(kOptions), std::end(kOptions));
    for (const KernelParameter& parameter : head.parameters) known.push_back(parameter.name);
    reader_.fail_at(argument.start, argument.name == "num_ctas"
                                        ? "clusters (num_ctas) are not supported"
                                        : "'" + argument.name + "' is no parameter of " +
                                              head.name + did_you_mean(argument.name, known));
    return false;
  }

  void set_block(const PlacedExpression& warps) {
    launch_.block = warps;
    const auto block = Expression::parse("32 * (" + warps.expression.text() + ")");
    if (block) launch_.block.expression = *block;
  }

  bool take(const KernelParameter& parameter, const Argument* argument, std::size_t at) {
    const auto fail = [&](std::size_t place, const char* why) {
      reader_.fail_at(place, "'" + parameter.name + "' " + why);
      return false;
    };
    if (parameter.name == "*" || parameter.name == "/") return fail(at, "is no parameter's name");
    if (is_constexpr(parameter)) {
      if (argument == nullptr) return parameter.has_default || fail(at, "has no value");
      launch_.constants.push_back(argument->value);
      launch_.constants.back().name = parameter.name;
      return true;
    }
    if (argument == nullptr) return fail(at, "has no value");
    if (!argument->value.literal.empty())
      return fail(argument->start, "is given a constant, which only a tl.constexpr can be");
    launch_.arguments.push_back(argument->value.value);
    return true;
  }

  const std::vector<KernelHead>& kernels_;
  DirectiveReader& reader_;
  const int line_;
  LaunchDirective launch_ = [] {
    LaunchDirective launch;
    launch.block.expression = *Expression::parse("128");  // four warps
    return launch;
  }();
  std::vector<Argument> arguments_;
  std::vector<LaunchConstant> options_;
};

}  // namespace krl
