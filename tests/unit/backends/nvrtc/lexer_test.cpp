// The scanner's tokens against those of the compilers: a directive that follows a generated text is
// one to both, or to neither. Texts that the static checks refuse may differ.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <kernelrl/cuda_source.hpp>
#include <kernelrl/values.hpp>
#include <random>
#include <string>
#include <vector>

#include "plugins/backends/evaluator/source/static_checks.hpp"
#include "plugins/backends/nvrtc/nvrtc_api.hpp"
#include "plugins/backends/nvrtc/nvrtc_library.hpp"

namespace krl::testing {
namespace {

using Texts = std::vector<std::string>;

constexpr std::string_view kSentinel = "SENTINEL";  // at the end of a batch
constexpr std::string_view kHidden = "HIDDEN";

// What a compiler makes of a text.
struct Reading {
  bool finds_directive = false, finds_error = false;
};

std::string name_of(std::size_t text) { return "text" + std::to_string(text); }

std::string including(std::size_t texts) {
  std::string source;
  for (std::size_t t = 0; t < texts; ++t) source += "#include \"" + name_of(t) + "\"\n";
  return source + "#warning " + std::string(kSentinel) + "\n";
}

// From "text7(3): warning #1105-D: …" or "text7:3:2: warning: …".
void read_line(const std::string& line, std::vector<Reading>* readings) {
  unsigned text = 0;
  if (std::sscanf(line.c_str(), "text%u", &text) != 1 || text >= readings->size()) return;
  Reading& reading = (*readings)[text];
  const bool warning = line.find("warning") != std::string::npos;
  if (warning && line.find(kHidden) != std::string::npos) reading.finds_directive = true;
  if (!warning && line.find("error") != std::string::npos) reading.finds_error = true;
}

using Compile = std::function<std::string(const Texts&)>;  // gives the messages

// Some texts swallow what follows them, or are the last that a compiler looks at.
std::vector<Reading> readings_of(const Texts& texts, const Compile& compile) {
  std::vector<Reading> readings(texts.size());
  const std::string log = compile(texts);
  for (std::size_t at = 0; at < log.size(); at = log.find('\n', at) + 1) {
    read_line(log.substr(at, log.find('\n', at) - at), &readings);
    if (log.find('\n', at) == std::string::npos) break;
  }
  if (log.find(kSentinel) != std::string::npos) return readings;
  if (texts.size() == 1) {
    readings[0].finds_error = true;
    return readings;
  }
  const auto middle = texts.begin() + static_cast<std::ptrdiff_t>(texts.size() / 2);
  readings = readings_of(Texts(texts.begin(), middle), compile);
  const auto rest = readings_of(Texts(middle, texts.end()), compile);
  readings.insert(readings.end(), rest.begin(), rest.end());
  return readings;
}

class NvrtcMessages {
 public:
  NvrtcMessages() : api_(nvrtc::find_nvrtc({}, KERNELRL_PYTHON_DEPS).library.string()) {}

  std::string operator()(const Texts& texts) const {
    Texts names;
    for (std::size_t t = 0; t < texts.size(); ++t) names.push_back(name_of(t));
    std::vector<const char*> name, content;
    for (std::size_t t = 0; t < texts.size(); ++t) {
      name.push_back(names[t].c_str());
      content.push_back(texts[t].c_str());
    }
    nvrtc::Program program = nullptr;
    const std::string source = including(texts.size());
    api_.require(api_.create(&program, source.c_str(), "kernel.cu", static_cast<int>(name.size()),
                             content.data(), name.data()),
                 "nvrtcCreateProgram");
    const std::array options = {"--std=c++17", "--gpu-architecture=compute_80"};
    api_.compile(program, options.size(), options.data());
    std::size_t size = 0;
    api_.require(api_.log_size(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    api_.require(api_.log(program, log.data()), "nvrtcGetProgramLog");
    return log.find("limit reached") == std::string::npos ? log : "";
  }

 private:
  nvrtc::Api api_;
};

// g++ preprocesses what nvcc compiles.
class PreprocessorMessages {
 public:
  PreprocessorMessages()
      : folder_(std::filesystem::path(::testing::TempDir()) /
                ("lexer" + std::to_string(std::random_device()()))) {
    std::filesystem::create_directory(folder_);
  }
  ~PreprocessorMessages() { std::filesystem::remove_all(folder_); }

  std::string operator()(const Texts& texts) const {
    for (std::size_t t = 0; t < texts.size(); ++t)
      std::ofstream(folder_ / name_of(t), std::ios::binary) << texts[t];
    std::ofstream(folder_ / "main.cpp") << including(texts.size());
    const std::string command =
        "cd " + folder_.string() + " && g++ -std=c++17 -E main.cpp 2>&1 >&-";
    std::FILE* pipe = ::popen(command.c_str(), "r");
    std::string log;
    std::array<char, 4096> part{};
    while (const std::size_t n = std::fread(part.data(), 1, part.size(), pipe)) {
      log.append(part.data(), n);
    }
    ::pclose(pipe);
    return log;
  }

 private:
  std::filesystem::path folder_;
};

bool finds_directive(const std::string& text) {
  const auto tokens = scan_cuda_source(text).tokens;
  for (std::size_t t = 0; t + 1 < tokens.size(); ++t) {
    if (tokens[t].is("#") && tokens[t].starts_line && tokens[t + 1].is("warning")) return true;
  }
  return false;
}

void expect_the_same(const Texts& texts, const Compile& compile) {
  constexpr std::size_t kBatch = 50;
  Texts accepted;
  for (const std::string& text : texts) {
    const auto scanned = evaluator::scan_source(text);
    if (scanned && !evaluator::check_source(*scanned, {}, "sm_87")) accepted.push_back(text);
  }
  for (std::size_t first = 0; first < accepted.size(); first += kBatch) {
    const std::size_t end = std::min(first + kBatch, accepted.size());
    const Texts batch(&accepted[first], &accepted[first] + (end - first));
    const auto readings = readings_of(batch, compile);
    for (std::size_t t = 0; t < batch.size(); ++t) {
      const bool found = finds_directive(batch[t]);
      const Reading& reading = readings[t];
      EXPECT_TRUE(found || !reading.finds_directive) << "hidden from the checks: " << batch[t];
      EXPECT_TRUE(reading.finds_directive || reading.finds_error || !found) << batch[t];
    }
  }
}

const Texts& pieces() {
  static const Texts kPieces = {"\\",
                                " ",
                                "\t",
                                "\f",
                                "\v",
                                "\n",
                                "\r\n",
                                "\r",
                                "\\\n",
                                "\\\r\n",
                                "\\ \n",
                                "\\\t\n",
                                "\\\f\r\n",
                                "\\\v \n",
                                "//",
                                "/*",
                                "*/",
                                "/*\n*/",
                                "\"",
                                "'",
                                "R\"(",
                                ")\"",
                                "u8R\"d(",
                                ")d\"",
                                "x",
                                "1'0",
                                "1'",
                                "0x",
                                "1.e+",
                                "#",
                                "##",
                                "%:",
                                "<:",
                                "?\?/",
                                "?\?=",
                                "\\u00a0",
                                "\xc2\xa0",
                                "\xe2\x80\xa8",
                                "\xef\xbb\xbf",
                                "\x80",
                                "/",
                                "*",
                                "#define A ",
                                "#define F(x) ",
                                "#pragma unroll ",
                                "#undef A",
                                "'a'"};
  return kPieces;
}

Texts ends() {
  const std::string hidden(kHidden);
  return {"\n#warning " + hidden + "\n", "\n/**/#warning " + hidden + "\n",
          "\n%:warning " + hidden + "\n", "\n#\\\nwarning " + hidden + "\n"};
}

// Every piece and every two of them, and longer rows drawn at random; half of those within a group
// that is skipped.
Texts generated_texts() {
  constexpr int kDrawn = 1000;
  const Texts ends = testing::ends();
  Texts texts;
  for (const std::string& a : pieces()) {
    texts.push_back(a + ends[0]);
    for (const std::string& b : pieces()) texts.push_back(a + b + ends[0]);
  }
  std::mt19937 random(7);
  const auto any_of = [&](const Texts& list) { return list[random() % list.size()]; };
  for (int i = 0; i < kDrawn; ++i) {
    std::string text;
    for (std::uint32_t n = 3 + random() % 4; n > 0; --n) text += any_of(pieces());
    texts.push_back(i % 2 == 0 ? text + any_of(ends)
                               : "#if 0\n" + text + "\n#endif" + any_of(ends));
  }
  return texts;
}

// Rows that were read differently once.
Texts known_texts() {
  const std::string end = ends()[0], group = "\n#endif" + end;
  return {"// \\ " + end,          "// \\\t" + end,           "#define A \\ " + end,
          "// \\ \n// \\ " + end,  "/* *\\ \n/" + end,        "x /*\n*/#warning HIDDEN\n",
          "#if 0\n1'0 /*" + group, "#if 0\n1'0 '/*'" + group, "#define A \xc2\xa0R\"(\n/*)\"" + end,
          "\xef\xbb\xbf\\" + end};
}

TEST(Lexer, AgreesWithNvrtc) {
  try {
    const NvrtcMessages nvrtc;
    expect_the_same(generated_texts(), std::cref(nvrtc));
    expect_the_same(known_texts(), std::cref(nvrtc));
  } catch (const Failure& failure) {
    GTEST_SKIP() << "skipped: " << failure.what();
  }
}

TEST(Lexer, AgreesWithThePreprocessorOfNvcc) {
  const PreprocessorMessages preprocessor;
  expect_the_same(generated_texts(), std::cref(preprocessor));
  expect_the_same(known_texts(), std::cref(preprocessor));
}

}  // namespace
}  // namespace krl::testing
