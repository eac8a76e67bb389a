// A plugin exports its entry point and nothing else, whatever it carries inside.
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace krl {
namespace {

namespace fs = std::filesystem;

// What `nm` says of the dynamic symbols that `file` defines, a line each: "krl_plugin_v1 T".
std::string exported_symbols(const fs::path& file) {
  const std::string command =
      "nm --dynamic --defined-only --format=posix '" + file.string() + "' | cut -d' ' -f1,2";
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string output;
  std::array<char, 4096> chunk;
  while (std::size_t n = fread(chunk.data(), 1, chunk.size(), pipe.get()))
    output.append(chunk.data(), n);
  return output;
}

void check_folder(const std::string& folder, std::size_t at_least) {
  std::size_t plugins = 0;
  for (const auto& entry : fs::directory_iterator(KERNELRL_BINARY_DIR "/" + folder)) {
    if (entry.path().string().find(".krl.so") == std::string::npos) continue;
    EXPECT_EQ(exported_symbols(entry.path()), "krl_plugin_v1 T\n") << entry.path();
    ++plugins;
  }
  EXPECT_GE(plugins, at_least);
}

TEST(Exports, BuiltInPlugins) { check_folder("lib/kernelrl/plugins", 13); }
TEST(Exports, PluginsOfEveryToolchain) { check_folder("tests/plugins/toolchains", 4); }

}  // namespace
}  // namespace krl
