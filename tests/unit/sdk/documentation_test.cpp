// The snippets of sdk/docs/ are regions of files that are compiled and tested.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace krl {
namespace {

namespace fs = std::filesystem;
const fs::path kDocs = KERNELRL_SOURCE_DIR "/sdk/docs";

std::string read(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// The contents of the fences that open with ```cpp or ```cmake.
std::vector<std::string> snippets(const std::string& page) {
  std::vector<std::string> found;
  for (const std::string open : {"```cpp\n", "```cmake\n"}) {
    for (std::size_t at = 0; (at = page.find(open, at)) != std::string::npos;) {
      at += open.size();
      const std::size_t end = page.find("```", at);
      found.push_back(page.substr(at, end - at));
      at = end + 3;
    }
  }
  return found;
}

TEST(Documentation, EverySnippetIsCompiled) {
  std::string compiled;
  for (const auto& entry : fs::directory_iterator(kDocs / "examples"))
    compiled += read(entry.path()) + "\n";
  compiled += read(KERNELRL_SOURCE_DIR "/tests/unit/sdk/examples_test.cpp");
  std::size_t checked = 0;
  for (const auto& entry : fs::directory_iterator(kDocs)) {
    if (entry.path().extension() != ".md") continue;
    for (const std::string& snippet : snippets(read(entry.path()))) {
      EXPECT_NE(compiled.find(snippet), std::string::npos)
          << entry.path().filename() << " holds code that is not in sdk/docs/examples:\n"
          << snippet;
      ++checked;
    }
  }
  EXPECT_GE(checked, 6u);
}

TEST(Documentation, OnePageAKind) {
  for (const char* kind : {"reward", "dataset", "backend", "policy"})
    EXPECT_TRUE(fs::exists(kDocs / (std::string(kind) + ".md"))) << kind;
}

}  // namespace
}  // namespace krl
