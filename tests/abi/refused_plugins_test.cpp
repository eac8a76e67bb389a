// Files that are no plugins: each is refused with the reason, and the others load.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "core/plugin/registry.hpp"

namespace krl::core {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const fs::path kPlugins = KERNELRL_BINARY_DIR "/tests/plugins";

// Plugin name -> why it was refused.
std::map<std::string, std::string> refusals(const Registry& registry) {
  std::map<std::string, std::string> why;
  for (const Registry::Rejected& r : registry.rejected()) why[r.path.stem().stem()] = r.why;
  return why;
}

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

  // A plugin with a fault of plugins/bad_description.cpp.
  void describe_badly(const std::string& fault) const {
    fs::copy_file(kPlugins / "described/bad_description.krl.so", file(fault));
  }

  // Why plugins with these faults are refused, each under its fault's name.
  std::map<std::string, std::string> refusals_of(
      const std::map<std::string, std::string>& faults) const {
    for (const auto& [fault, unused] : faults) describe_badly(fault);
    const Registry registry = Registry::load({folder_});
    EXPECT_TRUE(registry.all().empty());
    return refusals(registry);
  }

  fs::path folder_;
};

std::string good_plugin() {
  std::ifstream file(kPlugins / "toolchains/plain_c.krl.so", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(RefusedPlugins, DescriptionsThatAreWrong) {
  const std::string offers = "offers the reward 'test.bad', but ";
  const std::string table_of_reward =
      ", and a reward's table has 16 bytes; set it to the table's "
      "sizeof, and the component's kind to the table's";
  const std::map<std::string, std::string> expected{
      {"null_plugin", "its entry point gives no description"},
      {"plugin_size", "the struct_size of its krl_plugin is 4, not 88"},
      {"no_components", "offers no components"},
      {"null_components", "offers no components"},
      {"many_components", "offers 1000000 components, more than 1000"},
      {"null_name", "its name is at NULL and has 5 bytes; the empty text is {NULL, 0}"},
      {"null_component", "lists a component that is null"},
      {"component_size", "lists a component whose struct_size is 8, not 80"},
      {"large_component", "lists a component whose struct_size is 4096, not 80"},
      {"unknown_kind", "offers 'test.bad' of the unknown kind 77"},
      {"component_flag",
       offers +
           "its flags contain 0x80000000, which is unknown to this version of kernelrl; remove it, or use a newer version"},
      {"newer_kind", "offers only components of kinds that came later; use a newer kernelrl"},
      {"newer_flag",
       offers +
           "its flags contain 0x80000000, which is unknown to this version of kernelrl; remove it, or use a newer version"},
      {"twice_in_one", "offers the reward 'test.bad' twice"},
      {"null_create", offers + "it lacks create, destroy or its table of functions"},
      {"null_destroy", offers + "it lacks create, destroy or its table of functions"},
      {"null_table", offers + "it lacks create, destroy or its table of functions"},
      {"null_score", offers + "its table lacks functions that its kind needs"},
      {"table_size_0", offers + "the struct_size of its table is 0" + table_of_reward},
      {"table_size_8", offers + "the struct_size of its table is 8" + table_of_reward},
      {"large_table", offers + "the struct_size of its table is 4096" + table_of_reward},
      {"unknown_need",
       offers +
           "its needs contain 0x100000, which is unknown to this version of kernelrl; remove it, or use a newer version"},
      {"null_fields", offers + "its list of options is NULL"},
      {"many_fields", offers + "it has 1000000 options, more than 1000"},
      {"null_field", offers + "its option 0 is NULL"},
      {"field_size", offers + "the struct_size of its option 0 is 0, not 80"},
      {"field_without_key", offers + "its option 0 has no name"},
      {"field_type", offers + "its option 'limit' has the unknown type 42"},
      {"field_flag",
       offers +
           "its option 0's flags contain 0x40, which is unknown to this version of kernelrl; remove it, or use a newer version"},
      {"field_reserved", offers + "its option 0 has reserved bits"},
      {"null_default", offers +
                           "its option 0's default is at NULL and has 5 bytes; the empty text is "
                           "{NULL, 0}"},
      {"null_summary",
       offers + "its summary is at NULL and has 5 bytes; the empty text is {NULL, 0}"},
      {"huge_summary", offers + "its summary has 300000000 bytes, more than 10000; shorten it"}};
  EXPECT_EQ(refusals_of(expected), expected);
}

TEST_F(RefusedPlugins, ATableOfAnotherKind) {
  const std::map<std::string, std::string> expected{
      {"policy_on_reward", "a policy's table has 160"},
      {"dataset_on_reward", "a dataset's table has 32"},
      {"reward_on_backend", "a reward's table has 16"},
      {"policy_on_backend", "a policy's table has 160"},
      {"dataset_on_backend", "its kind is 4, its table's 2"},
      {"policy_kind", "its kind is 1, its table's 3"}};
  const auto why = refusals_of(expected);
  for (const auto& [name, text] : expected) EXPECT_THAT(why.at(name), HasSubstr(text)) << name;
}

TEST_F(RefusedPlugins, Ids) {
  const std::string rule =
      "; an id is \"vendor.name\": words of a-z, 0-9, '_' and '-' joined by dots, starting with a letter, at most 64 characters";
  const std::string offers = "offers a component with the id ";
  const auto alone = [](const std::string& id) {
    return "offers the reward '" + id +
           "', an id reserved for kernelrl's own plugins; name it \"vendor." + id +
           "\", or enable it in a plan with [plugins] replace = [\"reward." + id + "\"]";
  };
  const std::map<std::string, std::string> expected{
      {"no_id", "offers a component without an id"},
      {"id_null",
       "offers a component, but its id is at NULL and has 5 bytes; the empty text is "
       "{NULL, 0}"},
      {"id_long", offers + "'" + std::string(64, ' ') + "'" + rule},
      {"id_huge",
       "offers a component, but its id has 300000000 bytes, more than 10000; shorten it"},
      {"id_alone", alone("bad")},
      {"id_of_built_in", alone("speedup")},
      {"id_blank", offers + "'bad one'" + rule},
      {"id_path", offers + "'../x'" + rule},
      {"id_slash", offers + "'bad.one/../x'" + rule},
      {"id_control", offers + "'bad. [31m'" + rule},
      {"id_not_utf8", offers + "'bad.?'" + rule},
      {"id_empty_word", offers + "'bad..one'" + rule},
      {"id_empty_end", offers + "'bad.'" + rule},
      {"id_capital", offers + "'Bad.one'" + rule},
      {"id_digit", offers + "'1.one'" + rule}};
  EXPECT_EQ(refusals_of(expected), expected);
}

TEST_F(RefusedPlugins, Options) {
  const std::string offers = "offers the reward 'test.bad', but ";
  const std::string range =
      ", cannot be read; a number has a range such as 0..1 or 1.., a string "
      "a|b|c, other types none";
  const std::string key =
      "' is not a valid key; use letters, digits, '_' and '-', with dots between tables, at "
      "most 100";
  const std::map<std::string, std::string> expected{
      {"default_outside", offers + "the default of 'limit' is not allowed: 'limit' must be between "
                                   "0 and 1, not 5.0; correct the default or the range"},
      {"default_no_choice", offers + "the default of 'limit' is not allowed: 'limit' must be a or "
                                     "b, not 'c'; correct the default or the range"},
      {"default_of_another_type",
       offers + "the default of 'limit', \"word\", is not a number; correct it"},
      {"default_no_toml", offers + "the default of 'limit', banana, is not a string; correct it"},
      {"default_two_lines",
       offers + "the default of 'limit', \"a b\", is not a string; correct it"},
      {"default_of_required",
       offers + "'limit' is required and has a default; it is one or the other"},
      {"range_word", offers + "the range 'banana' of 'limit', a number" + range},
      {"range_rest", offers + "the range '0..1x' of 'limit', a number" + range},
      {"range_turned", offers + "the range '2..0' of 'limit', an integer" + range},
      {"range_of_string", offers + "the range '0..1' of 'limit', a string" + range},
      {"range_of_bool", offers + "the range 'true|false' of 'limit', true or false" + range},
      {"key_twice", offers + "'limit' is declared twice; rename one of the two"},
      {"key_of_all", offers + "'use' is reserved for kernelrl in the table of a reward; rename it"},
      {"key_of_rewards",
       offers + "'weight' is reserved for kernelrl in the table of a reward; rename it"},
      {"key_blank", offers + "'my key" + key},
      {"key_empty_word", offers + "'a..b" + key},
      {"key_long", offers + "'" + std::string(100, ' ') + key}};
  EXPECT_EQ(refusals_of(expected), expected);
}

TEST_F(RefusedPlugins, ANewerVersionIsReadAsFarAsItIsKnown) {
  for (const char* name : {"newer_minor", "newer_component", "newer_hint", "newer_beside"}) {
    describe_badly(name);
    const Registry registry = Registry::load({folder_});
    EXPECT_NE(registry.find(Kind::kReward, "test.bad"), nullptr) << refusals(registry)[name];
    fs::remove(file(name));
  }
}

TEST_F(RefusedPlugins, ProseIsOnePrintableLine) {
  describe_badly("prose");
  const Registry registry = Registry::load({folder_});
  const Component* component = registry.find(Kind::kReward, "test.bad");
  ASSERT_NE(component, nullptr) << refusals(registry)["prose"];
  EXPECT_EQ(component->summary, "two lines,  [31mred [0m,  , ?, \xc3\xa4");
}

TEST_F(RefusedPlugins, FilesWithoutAGoodEntry) {
  const std::map<std::string, std::string> expected{
      {"no_entry", "exports no krl_plugin_v1: not a kernelrl plugin, or built without KRL_PLUGIN"},
      {"next_major",
       "built for another version of the plugin boundary: it exports krl_plugin_v2, this program requires krl_plugin_v1; rebuild it with this version's SDK"},
      {"entry_is_data", "exports krl_plugin_v1 as data, not as a function"},
      {"lacks_library",
       "cannot be loaded: libtest_lacking.so: cannot open shared object file: No such file or "
       "directory"},
      {"lacks_symbol", "cannot be loaded: undefined symbol: krl_test_lacking"}};
  const Registry registry = Registry::load({kPlugins / "entries"});
  EXPECT_EQ(refusals(registry), expected);
  EXPECT_TRUE(registry.all().empty());
}

TEST_F(RefusedPlugins, FilesThatAreNoLibrary) {
  const std::string elf =
      "\x7f"
      "ELF";
  write("empty", "");
  write("text", "#!/bin/sh\necho I am a shell script\n");
  write("picture", std::string("\x89PNG\r\n\x1a\n\0\0", 10));
  write("magic_only", elf);
  write("noise", elf + std::string(4096, '\xa5'));
  fs::create_directory(file("folder"));
  ASSERT_EQ(::mkfifo(file("pipe").c_str(), 0600), 0);
  fs::create_symlink(folder_ / "nowhere", file("dangling"));
  const Registry registry = Registry::load({folder_});
  const std::map<std::string, std::string> expected{
      {"empty", "is an empty file, not a shared library"},
      {"text", "is a text file, not a shared library"},
      {"picture", "is not an ELF shared library"},
      {"magic_only", "is a damaged or incomplete ELF file; build or copy it again"},
      {"noise", "is a damaged or incomplete ELF file; build or copy it again"},
      {"folder", "is a folder, not a shared library"},
      {"pipe", "is not a regular file"},
      {"dangling", "cannot be read: No such file or directory"}};
  EXPECT_EQ(refusals(registry), expected);
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
  const std::string why = "offers the reward 'test.plain_c', which " +
                          fs::canonical(file("first")).string() +
                          " offers already; remove one of the two";
  EXPECT_EQ(refusals(registry)["second"], why);
  EXPECT_THAT(registry.notes_on({Kind::kReward, "test.plain_c"}),
              ElementsAre("not loaded: " + fs::canonical(file("second")).string() + ": " + why));
  EXPECT_THAT(registry.notes_on({Kind::kBackend, "test.plain_c"}), IsEmpty());
}

// What kernelrl itself brings, and a stranger's component of the same id.
class Replacements : public RefusedPlugins {
 protected:
  static constexpr const char* kStranger = "id_of_built_in";
  Replacements() { describe_badly(kStranger); }

  static fs::path installed() { return installed_plugins(); }
  static fs::path file_of(const Registry& registry) {
    const Component* component = registry.find(Kind::kReward, "speedup");
    return component == nullptr ? fs::path() : component->plugin.path;
  }
};

TEST_F(Replacements, ABuiltInIsNotReplacedUnasked) {
  const Registry registry = Registry::load({folder_, installed()});
  EXPECT_EQ(file_of(registry), installed() / "speedup.krl.so");
  EXPECT_THAT(registry.notes(), IsEmpty());
  EXPECT_THAT(registry.notes_on({Kind::kReward, "speedup"}),
              ElementsAre(HasSubstr("an id reserved for kernelrl's own plugins")));
  EXPECT_THAT(registry.catalog().replaced, IsEmpty());
}

TEST_F(Replacements, OnlyWhatAPlanNamesIsReplaced) {
  EXPECT_EQ(file_of(Registry::load({folder_, installed()}, {"reward.correctness"})),
            installed() / "speedup.krl.so");
  for (const auto& folders : {std::vector{folder_, installed()}, {installed(), folder_}}) {
    const Registry registry = Registry::load(folders, {"reward.speedup"});
    EXPECT_EQ(file_of(registry), fs::canonical(file(kStranger)));
    EXPECT_THAT(registry.notes(),
                ElementsAre("the reward 'speedup' is provided by " +
                            fs::canonical(file(kStranger)).string() +
                            " instead of kernelrl, as requested by [plugins] replace"));
    EXPECT_THAT(registry.catalog().replaced, ElementsAre("reward.speedup"));
    EXPECT_EQ(refusals(registry).count("speedup"), 0u);
  }
}

TEST_F(Replacements, WhatNobodyOffersReplacesNothing) {
  const Registry registry = Registry::load({installed()}, {"reward.speedup"});
  EXPECT_EQ(file_of(registry), installed() / "speedup.krl.so");
  EXPECT_THAT(registry.catalog().replaced, IsEmpty());
}

// Links do not make an installed plugin a stranger's.
TEST_F(Replacements, ALinkToAnInstalledPlugin) {
  fs::remove(file(kStranger));
  fs::create_symlink(installed() / "speedup.krl.so", file("link"));
  const Registry registry = Registry::load({folder_, installed()});
  EXPECT_EQ(file_of(registry), installed() / "speedup.krl.so");
  EXPECT_EQ(refusals(registry).count("speedup"), 0u);
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
  EXPECT_THAT(message, HasSubstr("not loaded: " + fs::canonical(file("broken")).string()));
  EXPECT_THAT(message, HasSubstr("searched: " + folder_.string() + ", " +
                                 (folder_ / "does-not-exist").string()));
}

TEST_F(RefusedPlugins, FoldersThatAreNotThereAreNoted) {
  write("broken", "not a library");
  const Registry registry = Registry::load({folder_ / "nowhere", file("broken")});
  EXPECT_THAT(
      registry.notes(),
      ElementsAre("no plugins from " + (folder_ / "nowhere").string() + ": it does not exist",
                  "no plugins from " + file("broken").string() +
                      ": it is a file; name the folder that contains it"));
}

}  // namespace
}  // namespace krl::core
