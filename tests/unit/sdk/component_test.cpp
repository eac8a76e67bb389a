// Options bound to members, their static description, and exceptions that become statuses.
#include <gtest/gtest.h>
#include <kernelrl/sdk.hpp>
#include <kernelrl/testing.hpp>

#include <map>
#include <stdexcept>

namespace krl {
namespace {

struct Everything final : Reward {
  static constexpr std::uint32_t needs = KRL_SIGNAL_TIME | KRL_SIGNAL_MEMORY;
  static constexpr std::uint32_t flags = KRL_DETERMINISTIC;

  bool on = true;
  std::int64_t count = -7;
  double share = 0.25, whole = 2;
  std::string mode = "say \"hi\" \\ bye\n", file = "kernel.cu", key, needed;
  static constexpr auto config = krl::config(
      opt("on", &Everything::on, "a switch"),
      opt("count", &Everything::count, "a number").range(-10, 10),
      opt("share", &Everything::share, "a share").at_least(0),
      opt("whole", &Everything::whole, "a float without a fraction"),
      opt("mode", &Everything::mode, "a text"), opt("file", &Everything::file, "a path").path(),
      opt("key", &Everything::key, "a secret").secret(),
      opt("model.needed", &Everything::needed, "must be given").required(),
      free_opt("list", KRL_ARRAY, "anything in a list"));

  std::string json, list;
  void start(const Config& options, const Context& context) override {
    json = options.json();
    if (options.text("mode").value() == "refuse") invalid_argument("mode cannot be refuse");
    EXPECT_EQ(options.integer("count"), count);
    EXPECT_EQ(options.number("share"), share);
    EXPECT_EQ(options.boolean("on"), on);
    EXPECT_EQ(options.number("no such key"), std::nullopt);
    context.info("started");
    context.metric("count", static_cast<double>(count));
  }
  double score(const Turn& turn) override {
    const std::string_view what = turn.answer();
    if (what == "failure") throw Failure(KRL_UNAVAILABLE, "come back later");
    if (what == "invalid") throw std::invalid_argument("bad");
    if (what == "memory") throw std::bad_alloc();
    if (what == "other") throw std::runtime_error("broken");
    if (what == "int") throw 1;
    if (what == "json") return static_cast<double>(json.size());
    return on ? static_cast<double>(count) + share : 0;
  }
};

struct Plain final : Reward {
  double score(const Turn&) override { return 1; }
};

KRL_PLUGIN("component_test", "1.2.3", reward<Everything>("test.everything", "all kinds of options"),
           reward<Plain>("test.plain", "no options"))

const testing::Plugin& plugin() {
  static const testing::Plugin the_plugin(krl_plugin_v1);
  return the_plugin;
}

TEST(Component, DescribesThePlugin) {
  const krl_plugin& c = *plugin().c();
  EXPECT_EQ(c.struct_size, sizeof(krl_plugin));
  EXPECT_EQ(c.abi_minor, KRL_ABI_MINOR);
  EXPECT_EQ(view(c.name), "component_test");
  EXPECT_EQ(view(c.version), "1.2.3");
  EXPECT_EQ(view(c.license), "Apache-2.0");
  EXPECT_NE(view(c.built_with).find_first_of("0123456789"), std::string::npos);
  EXPECT_EQ(c.n_components, 2u);
}

TEST(Component, TheEntryPointGivesTheSameEveryTime) {
  EXPECT_EQ(krl_plugin_v1(testing::host()), krl_plugin_v1(testing::host()));
}

TEST(Component, NeedsAndFlagsAreZeroWhereTheClassSaysNothing) {
  EXPECT_EQ(plugin().component(KRL_REWARD, "test.everything").flags, KRL_DETERMINISTIC);
  EXPECT_EQ(plugin().component(KRL_REWARD, "test.plain").flags, 0u);
  EXPECT_EQ(plugin().component(KRL_REWARD, "test.plain").n_fields, 0u);
  EXPECT_EQ(plugin().reward("test.everything", {{"model.needed", "x"}}).needs(),
            KRL_SIGNAL_TIME | KRL_SIGNAL_MEMORY);
  EXPECT_EQ(plugin().reward("test.plain").needs(), 0u);
}

struct Row {
  std::uint32_t type, flags;
  std::string fallback, range;
  bool operator==(const Row& o) const {
    return type == o.type && flags == o.flags && fallback == o.fallback && range == o.range;
  }
};

TEST(Component, OptionsAreDescribedAsToml) {
  const std::map<std::string, Row> expected{
      {"on", {KRL_BOOL, 0, "true", ""}},
      {"count", {KRL_INT, 0, "-7", "-10..10"}},
      {"share", {KRL_FLOAT, 0, "0.25", "0.."}},
      {"whole", {KRL_FLOAT, 0, "2.0", ""}},
      {"mode", {KRL_STRING, 0, R"("say \"hi\" \\ bye\u000a")", ""}},
      {"file", {KRL_PATH, 0, R"("kernel.cu")", ""}},
      {"key", {KRL_STRING, KRL_SECRET, R"("")", ""}},
      {"model.needed", {KRL_STRING, KRL_REQUIRED, "", ""}},
      {"list", {KRL_ARRAY, 0, "", ""}}};
  const krl_component& component = plugin().component(KRL_REWARD, "test.everything");
  ASSERT_EQ(component.n_fields, expected.size());
  for (std::uint32_t i = 0; i < component.n_fields; ++i) {
    const krl_field& f = *component.fields[i];
    const std::string key(view(f.key));
    const Row row{f.type, f.flags, std::string(view(f.fallback)), std::string(view(f.range))};
    ASSERT_EQ(expected.count(key), 1u) << key;
    EXPECT_TRUE(row == expected.at(key)) << key << ": " << row.fallback << " " << row.range;
    EXPECT_EQ(f.struct_size, sizeof(krl_field));
    EXPECT_GT(f.doc.size, 0u);
  }
}

TEST(Component, MembersKeepTheirDefaultsOrTakeThePlansValues) {
  const testing::TurnBuilder turn;
  EXPECT_EQ(plugin().reward("test.everything", {{"model.needed", "x"}}).score(turn), -6.75);
  EXPECT_EQ(plugin()
                .reward("test.everything", {{"model.needed", "x"}, {"count", 3}, {"share", 1}})
                .score(turn),
            4);
  EXPECT_EQ(plugin().reward("test.everything", {{"model.needed", "x"}, {"on", false}}).score(turn),
            0);
}

TEST(Component, StartMayRefuseReportAndReadTheWholeTable) {
  const auto term = plugin().reward("test.everything", {{"model.needed", "x"}, {"list", {1, 2}}});
  EXPECT_EQ(term.call().metrics.at("count"), -7);
  ASSERT_EQ(term.call().messages.size(), 1u);
  EXPECT_EQ(term.call().messages[0],
            (std::pair<std::int32_t, std::string>(KRL_LOG_INFO, "started")));
  EXPECT_GT(term.score(testing::TurnBuilder().answer("json")), 20);
  try {
    plugin().reward("test.everything", {{"model.needed", "x"}, {"mode", "refuse"}});
    ADD_FAILURE() << "not refused";
  } catch (const Failure& e) {
    EXPECT_EQ(e.code(), KRL_INVALID_ARGUMENT);
    EXPECT_STREQ(e.what(), "mode cannot be refuse");
  }
}

TEST(Component, ExceptionsBecomeStatuses) {
  const auto term = plugin().reward("test.everything", {{"model.needed", "x"}});
  const auto status = [&](const char* answer) {
    try {
      term.score(testing::TurnBuilder().answer(answer));
    } catch (const Failure& e) {
      return std::to_string(e.code()) + " " + e.what();
    }
    return std::string("scored");
  };
  EXPECT_EQ(status("failure"), "14 come back later");
  EXPECT_EQ(status("invalid"), "3 bad");
  EXPECT_EQ(status("memory"), "8 out of memory");
  EXPECT_EQ(status("other"), "13 broken");
  EXPECT_EQ(status("int"), "13 unknown exception");
  EXPECT_EQ(status(""), "scored");
}

}  // namespace
}  // namespace krl
