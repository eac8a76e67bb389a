// Files that are no plugins: each is refused with the reason, and the others load.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/plugin/registry.hpp"

namespace krl {
namespace {

namespace fs = std::filesystem;

const fs::path kPlugins = KERNELRL_BINARY_DIR "/tests/plugins";

// A folder of its own for each test, removed at its end.
class RefusedPlugins : public ::testing::Test {
 protected:
  RefusedPlugins() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              ("kernelrl-" + std::string(test->name()) + "-" + std::to_string(getpid()));
    fs::create_directories(folder_);
  }
  ~RefusedPlugins() override { fs::remove_all(folder_); }

  fs::path file(const std::string& name) const { return folder_ / (name + ".krl.so"); }
  void write(const std::string& name, const std::string& bytes) const {
    std::ofstream(file(name), std::ios::binary) << bytes;
  }

  fs::path folder_;
};

// Plugin name -> why it was refused.
std::map<std::string, std::string> refusals(const Registry& registry) {
  std::map<std::string, std::string> why;
  for (const Registry::Rejected& r : registry.rejected()) why[r.path.stem().stem()] = r.why;
  return why;
}

std::string good_plugin() {
  std::ifstream file(kPlugins / "toolchains/plain_c.krl.so", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(RefusedPlugins, DescriptionsThatAreWrong) {
  const Registry registry = Registry::load({kPlugins / "refused"});
  const std::string functions = "offers 'test.bad' without the functions that its kind needs";
  const std::string no_name = "offers 'test.bad' with an option that has no name";
  const std::map<std::string, std::string> expected{
      {"null_plugin", "its entry point gives no description of this version"},
      {"plugin_size", "its entry point gives no description of this version"},
      {"no_components", "offers no components"},
      {"null_component", "lists a component that is null"},
      {"component_size", "lists a component of the wrong size"},
      {"unknown_kind", "offers 'test.bad' of the unknown kind 77"},
      {"no_id", "offers a component without an id"},
      {"null_create", functions},
      {"null_table", functions},
      {"null_score", functions},
      {"null_field", no_name},
      {"field_without_key", no_name},
      {"twice_in_one", "offers the reward 'test.bad' twice"},
      {"no_entry", "exports no krl_plugin_v1: not a kernelrl plugin, or built without KRL_PLUGIN"},
      {"next_major",
       "built for another version of the plugin boundary: it exports krl_plugin_v2, this program "
       "wants "
       "krl_plugin_v1; rebuild it with this version's SDK"},
      {"entry_is_data", "exports krl_plugin_v1 as data, not as a function"}};
  EXPECT_EQ(refusals(registry), expected);
  EXPECT_TRUE(registry.all().empty());
}

TEST_F(RefusedPlugins, FilesThatAreNoLibrary) {
  write("empty", "");
  write("text", "#!/bin/sh\necho I am a shell script\n");
  write("magic_only",
        "\x7f"
        "ELF");
  write("noise",
        "\x7f"
        "ELF" +
            std::string(4096, '\xa5'));
  fs::create_directory(file("folder"));
  fs::create_symlink(folder_ / "nowhere", file("dangling"));
  const Registry registry = Registry::load({folder_});
  const auto why = refusals(registry);
  for (const char* name : {"empty", "text", "magic_only", "noise", "folder"}) {
    ASSERT_EQ(why.count(name), 1u) << name;
    EXPECT_EQ(why.at(name).rfind("not a shared library that can be read", 0), 0u)
        << name << ": " << why.at(name);
  }
  ASSERT_EQ(why.count("dangling"), 1u);
  EXPECT_EQ(why.at("dangling"), "cannot be read: No such file or directory");
  EXPECT_TRUE(registry.all().empty());
}

TEST_F(RefusedPlugins, ATruncatedPluginNeverCrashes) {
  const std::string whole = good_plugin();
  ASSERT_GT(whole.size(), 4096u);
  const std::size_t kPieces = 40;
  for (std::size_t i = 0; i < kPieces; ++i)
    write("piece" + std::to_string(i), whole.substr(0, whole.size() * i / kPieces));
  const Registry registry = Registry::load({folder_});
  EXPECT_EQ(registry.rejected().size(), kPieces);
  for (const auto& [name, why] : refusals(registry)) EXPECT_FALSE(why.empty()) << name;
  EXPECT_TRUE(registry.all().empty());
}

TEST_F(RefusedPlugins, UnreadableFile) {
  if (geteuid() == 0) GTEST_SKIP() << "skipped: root reads everything";
  write("secret", good_plugin());
  fs::permissions(file("secret"), fs::perms::none);
  const auto why = refusals(Registry::load({folder_}));
  ASSERT_EQ(why.count("secret"), 1u);
  EXPECT_NE(why.at("secret").find("ermission denied"), std::string::npos) << why.at("secret");
}

TEST_F(RefusedPlugins, ABrokenFileDoesNotStopTheOthers) {
  write("a_broken", "not a library");
  write("b_good", good_plugin());
  const Registry registry = Registry::load({folder_});
  EXPECT_EQ(registry.rejected().size(), 1u);
  EXPECT_NE(registry.find(Kind::kReward, "test.plain_c"), nullptr);
}

TEST_F(RefusedPlugins, TheSecondOfTwoWithOneIdIsRefusedByName) {
  write("first", good_plugin());
  write("second", good_plugin());
  const Registry registry = Registry::load({folder_});
  ASSERT_EQ(registry.all().size(), 1u);
  EXPECT_EQ(registry.all().begin()->second.plugin.path, fs::canonical(file("first")));
  EXPECT_EQ(refusals(registry)["second"], "offers the reward 'test.plain_c', which " +
                                              fs::canonical(file("first")).string() +
                                              " offers already; remove one of the two");
}

TEST_F(RefusedPlugins, AskingForAMissingIdNamesTheNearestAndWhatWasRefused) {
  write("broken", "not a library");
  write("good", good_plugin());
  const Registry registry = Registry::load({folder_, folder_ / "does-not-exist"});
  const auto found = registry.require(Kind::kReward, "test.plain_d");
  ASSERT_FALSE(found);
  const std::string message = found.error().message;
  EXPECT_EQ(
      message.rfind("no reward plugin is called 'test.plain_d'; did you mean 'test.plain_c'?", 0),
      0u)
      << message;
  EXPECT_NE(message.find("not loaded: " + fs::canonical(file("broken")).string()),
            std::string::npos)
      << message;
}

}  // namespace
}  // namespace krl
