// Plugin files that are broken before any component of theirs is asked for: each is refused with
// its name and the reason by every call that looks through its folder, and the others load.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "core/base/file_system.hpp"
#include "tests/broken/world.hpp"

namespace krl::test {
using namespace core;
namespace {

namespace fs = std::filesystem;

struct BadFile {
  std::string_view name;                    // of the file, and of the defect
  std::vector<std::string_view> says = {};  // why it is refused
  std::string_view id = "broken.at_load";   // of the reward that it would offer
};
std::ostream& operator<<(std::ostream& stream, const BadFile& file) { return stream << file.name; }

const std::vector<BadFile> kRefused = {
    // No plugin, or none that the system's loader takes.
    {"empty", {"not a shared library"}},
    {"text", {"not a shared library"}},
    {"truncated", {"damaged or incomplete"}},
    {"folder", {"not a shared library"}},
    {"dangling", {"No such file"}},
    {"no_entry", {"exports no krl_plugin_v1"}},
    {"undefined_symbol", {"cannot be loaded", "broken_need"}},
    {"missing_library", {"cannot be loaded", "libbroken_need.so"}},
    // Code that ends or keeps the process that loads it.
    {"constructor_segfault", {"crashed (SIGSEGV) while it was being loaded"}},
    {"constructor_abort", {"SIGABRT"}},
    {"constructor_exit", {"ended the process with exit code 0 while it was being loaded"}},
    {"constructor_hang", {"did not return within"}},
    {"entry_segfault", {"SIGSEGV"}},
    {"entry_abort", {"SIGABRT"}},
    {"entry_exit", {"exit"}},
    {"entry_quick_exit", {"exit"}},
    {"entry_hang", {"did not return within"}},
    {"entry_throw", {"exception", "boom"}},
    // Descriptions that are wrong.
    {"no_plugin", {"no description"}},
    {"plugin_size_0", {"struct_size of its krl_plugin is 0"}},
    {"no_components", {"offers no components"}},
    {"null_components", {"offers no components"}},
    {"million_components", {"1000000"}},
    {"huge_components", {"18446744073709551615"}},
    {"null_component", {"a component that is null"}},
    {"twice_in_one", {"offers the reward 'broken.at_load' twice"}},
    {"component_size_0", {"a component whose struct_size is 0"}},
    {"unknown_kind", {"the unknown kind 77"}},
    {"kind_of_policy", {"size"}},
    {"kind_of_backend", {"size"}},
    {"kind_of_dataset", {"size"}},
    {"backend_as_reward", {"broken.at_load"}},
    {"null_table", {"lacks create, destroy or its table of functions"}},
    {"null_score", {"lacks functions that its kind needs"}},
    {"null_create", {"lacks create, destroy or its table of functions"}},
    {"null_destroy", {"lacks create, destroy or its table of functions"}},
    {"table_size_0", {"size"}},
    {"table_size_8", {"size"}},
    // Ids.
    {"no_id", {"without an id"}},
    {"null_id", {"its id is at NULL"}},
    {"builtin_id", {"speedup"}},
    {"id_without_vendor", {"myreward", "vendor"}, "myreward"},
    {"wild_id", {"Bad One/../x"}, "Bad One/../x"},
    // Texts.
    {"long_summary", {"summary has 33554432 bytes"}},
    {"null_summary", {"summary is at NULL"}},
    // Options.
    {"null_fields", {"its list of options is NULL"}},
    {"null_field", {"its option 0 is NULL"}},
    {"no_key", {"its option 0 has no name"}},
    {"million_fields", {"1000000"}},
    {"field_size_0", {"size"}},
    {"key_twice", {"'limit'", "twice"}},
    {"key_weight", {"'weight'"}},
    {"key_use", {"'use'"}},
    {"key_when", {"'when'"}},
    {"key_with_blank", {"'my key'"}},
    {"default_out_of_range", {"'limit'", "5.0"}},
    {"default_no_choice", {"'limit'", "must be a or b"}},
    {"default_of_another_type", {"'limit'", "text"}},
    {"default_no_toml", {"'limit'", "= ["}},
    {"range_banana", {"'limit'", "banana"}},
    {"type_42", {"'limit'", "42"}},
};

const std::vector<BadFile> kAccepted = {
    {"whole"},          // the control
    {"newer_minor"},    // the boundary only grows, and a newer plugin says by its sizes what it has
    {"entry_threads"},  // against the rules, and without harm
    {"entry_fork"},
    {"entry_prints"},
    {"summary_with_escapes"},  // cleaned
    {"summary_of_two_lines"},
    {"summary_not_utf8"},
};

const fs::path kFiles = KERNELRL_BINARY_DIR "/tests/broken/at_load";

// Puts `name`.krl.so into a folder of its own.
class Folder {
 public:
  explicit Folder(std::string_view name) {
    const fs::path file = scratch_ / (std::string(name) + ".krl.so");
    const fs::path special = kFiles / file.filename();
    const fs::path whole = kFiles / "at_load.krl.so";
    if (name == "folder") {
      fs::create_directory(file);
    } else if (name == "dangling") {
      fs::create_symlink("nowhere", file);
    } else if (name == "empty" || name == "text" || name == "truncated") {
      const std::string text = name == "text" ? "#!/bin/sh\n" : read_file(whole).value_or("");
      std::ofstream(file, std::ios::binary)
          << text.substr(0, name == "empty" ? 0 : text.size() / 2);
    } else {
      fs::copy_file(fs::exists(special) ? special : whole, file);
    }
  }
  std::string path() const { return scratch_.path(); }

 private:
  ScratchFolder scratch_;
};

std::string use(std::string_view id) { return "reward=[{use=\"" + std::string(id) + "\"}]"; }

void expect_reason(const Ending& ending, const BadFile& file) {
  const std::string name = std::string(file.name) + ".krl.so";
  EXPECT_NE(ending.output.find(name), std::string::npos) << "it does not name the file";
  for (const std::string_view words : file.says)
    EXPECT_NE(ending.output.find(words), std::string::npos) << "it does not say: " << words;
}

class RefusedFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(RefusedFile, IsNamedAndTheOthersLoad) {
  const BadFile& file = GetParam();
  const Folder folder(file.name);
  const World world;

  const Ending list =
      run_program({"plugins", "list", "--plugin-path", folder.path()}, world.folder());
  SCOPED_TRACE(list.output);
  EXPECT_EQ(list.exit_code, 0);
  expect_reason(list, file);
  EXPECT_NE(list.output.find("\nreward   speedup "), std::string::npos) << "others are missing";

  const std::vector<std::string> with_folder = {"--plugin-path", folder.path()};
  const Ending run = run_program(World::call(with_folder), world.folder());
  EXPECT_EQ(run.exit_code, 0) << run.output;
  world.expect_whole();
}

TEST_P(RefusedFile, IsTheReasonWhyAPlanIsRefused) {
  const BadFile& file = GetParam();
  if (file.id.empty()) GTEST_SKIP() << "a plan cannot ask for it";
  if (std::string_view(file.name).ends_with("_hang")) GTEST_SKIP() << "waited for once already";
  const Folder folder(file.name);
  const World world;
  const Ending run = run_program(
      World::call({"--plugin-path", folder.path(), "--set", use(file.id)}), world.folder());
  SCOPED_TRACE(run.output);
  EXPECT_EQ(run.exit_code, 2);
  expect_reason(run, file);
  EXPECT_FALSE(fs::exists(world.run()));
}

class AcceptedFile : public ::testing::TestWithParam<BadFile> {};

TEST_P(AcceptedFile, LoadsAndRuns) {
  const Folder folder(GetParam().name);
  const World world;
  const Ending list =
      run_program({"plugins", "list", "--plugin-path", folder.path()}, world.folder());
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.output.find("\nreward   broken.at_load "), std::string::npos);
  EXPECT_LT(list.output.size(), 100'000u);
  EXPECT_TRUE(std::none_of(list.output.begin(), list.output.end(), [](unsigned char c) {
    return c != '\n' && (c < 0x20 || c >= 0xf8);
  })) << "control characters, or bytes that are no UTF-8";

  const Ending run =
      run_program(World::call({"--plugin-path", folder.path(), "--set", use("broken.at_load")}),
                  world.folder());
  EXPECT_EQ(run.exit_code, 0) << run.output;
  world.expect_whole();
}

INSTANTIATE_TEST_SUITE_P(Files, RefusedFile, ::testing::ValuesIn(kRefused),
                         [](const auto& row) { return std::string(row.param.name); });
INSTANTIATE_TEST_SUITE_P(Files, AcceptedFile, ::testing::ValuesIn(kAccepted),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(TwoFilesWithOneId, AreNamedBoth) {
  const Folder first("first"), second("second");
  const World world;
  const Ending list = run_program(
      {"plugins", "list", "--plugin-path", first.path(), "--plugin-path", second.path()},
      world.folder());
  EXPECT_EQ(list.exit_code, 0);
  EXPECT_NE(list.output.find("first.krl.so"), std::string::npos) << list.output;
  EXPECT_NE(list.output.find("second.krl.so"), std::string::npos) << list.output;
}

}  // namespace
}  // namespace krl::test
