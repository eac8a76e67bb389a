#include "tests/broken/world.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>

#include "core/base/file_system.hpp"
#include "core/run/checkpoints.hpp"
#include "core/run/run_directory.hpp"
#include "tests/plans/run_folder.hpp"

namespace krl::test {
using namespace core;
namespace {

namespace fs = std::filesystem;

// A line of output as the failure of a test shows it.
std::string shortened(std::string text) {
  constexpr std::size_t kShown = 4000;
  return text.size() <= kShown ? text : text.substr(0, kShown) + "…";
}

constexpr const char* kRepaired = "KERNELRL_TEST_REPAIRED";  // see plugins/trouble.hpp

std::string log_of(const World& world) {
  return read_file(RunLayout{world.run()}.log()).value_or("");
}

// The program under a defect. In a call that lasts it is asked to stop, twice; one that hangs is
// asked once more when the program has said what it waits for.
Ending run_broken(const World& world, const Patient& patient, const Defect& defect) {
  Program program(World::call(patient, defect), world.folder());
  if (defect.end != End::kHangs && defect.end != End::kObeys) return program.wait();
  const auto says = [&](const std::string& words) {
    program.wait_until([&] { return program.output().find(words) != std::string::npos; });
  };
  program.wait_until([&] { return fs::exists(world.folder() / "lasting"); });
  program.send(SIGINT);
  says("stopping");
  program.send(SIGINT);
  if (defect.end == End::kHangs) {
    says("'broken." + std::string(patient.kind) + "'");
    program.send(SIGINT);
  }
  return program.wait();
}

void expect_exit_code(const Ending& ending, End end) {
  switch (end) {
    case End::kFinishes:
      EXPECT_EQ(ending.exit_code, 0);
      break;
    case End::kRefused:
      EXPECT_EQ(ending.exit_code, 2);
      break;
    case End::kFails:
      EXPECT_EQ(ending.exit_code, 1);
      break;
    case End::kObeys:
      EXPECT_EQ(ending.exit_code, 130);
      break;
    default:  // a signal, or the program's own code
      EXPECT_NE(ending.exit_code, 0);
      EXPECT_NE(ending.exit_code, 2);
  }
}

// "reward 'broken.reward'", and its function, its file or its place in the plan: function and file
// where the plugin ended the process.
void expect_name(std::string_view where, const std::string& text, const Patient& patient,
                 const Defect& defect) {
  const std::string kind(patient.kind);
  const auto has = [&](const std::string& words) { return text.find(words) != std::string::npos; };
  const bool file = has(kind + ".krl.so");
  const bool place = has("world.toml:") || has("optimiser steps");
  if (defect.end == End::kDiesAside) {
    EXPECT_TRUE(file) << where << " does not name the file";
    return;
  }
  EXPECT_TRUE(has(kind + " 'broken." + kind + "'")) << where << " does not name the component";
  const bool call = has(std::string(defect.at.empty() ? patient.function : defect.at));
  const bool ended = defect.end == End::kDies || defect.end == End::kHangs;
  EXPECT_TRUE(ended ? call && file : call || file || place)
      << where << " names the function: " << call << ", the file: " << file;
}

std::vector<std::string> undisturbed() {
  const World world;
  const Ending ending = run_program(World::call(), world.folder());
  EXPECT_EQ(ending.exit_code, 0) << ending.output;
  return repeatable_lines(world.run());
}

// While it lives, nothing is wrong with any plugin.
class Repaired {
 public:
  Repaired() { ::setenv(kRepaired, "1", 1); }
  Repaired(const Repaired&) = delete;
  Repaired& operator=(const Repaired&) = delete;
  ~Repaired() { ::unsetenv(kRepaired); }
};

}  // namespace

std::ostream& operator<<(std::ostream& stream, const Defect& defect) {
  return stream << test_name(defect);
}

std::string test_name(const Defect& defect) {
  std::string name(defect.name);
  if (!defect.at.empty()) name += "_in_" + std::string(defect.at);
  if (defect.times == 1) name += "_once";
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
}

World::World() { ::unsetenv("KERNELRL_PLUGIN_PATH"); }

std::vector<std::string> World::call(std::vector<std::string> more) {
  std::vector<std::string> words = {"--plan", KERNELRL_SOURCE_DIR "/tests/broken/world.toml",
                                    "--plugin-path",
                                    KERNELRL_BINARY_DIR "/tests/broken/components"};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<std::string> World::call(const Patient& patient, const Defect& defect) {
  const auto set = [&](std::string_view option, const std::string& value) {
    return std::string(patient.table) + "." + std::string(option) + "=" + value;
  };
  const std::string_view at = defect.at.empty() ? patient.function : defect.at;
  return call({"--set", set("defect", "\"" + std::string(defect.name) + "\""), "--set",
               set("at", std::string(at)), "--set", set("from", std::to_string(defect.from)),
               "--set", set("times", std::to_string(defect.times))});
}

void World::expect_whole() const {
  const auto lines = metrics_in(run());
  const std::string text = read_file(RunLayout{run()}.metrics()).value_or("");
  EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')), lines.size());
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_EQ(lines[i].iteration, static_cast<int>(i) + 1);
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(RunLayout{run()}.checkpoints(), none)) {
    if (!entry.path().filename().string().starts_with("step_")) continue;
    const auto checkpoint = read_checkpoint(entry.path());
    EXPECT_TRUE(checkpoint) << entry.path() << ": " << checkpoint.error().message;
  }
}

void World::expect_to_go_on(bool marks, const std::vector<std::string>& again) const {
  const Repaired repaired;
  const bool begun = fs::exists(RunLayout{run()}.metrics());
  const Ending ending =
      begun ? run_program({"runs", "resume", "broken"}, folder()) : run_program(again, folder());
  ASSERT_EQ(ending.exit_code, 0) << "the repaired plugin: " << ending.output;
  expect_whole();
  const std::vector<std::string> lines = repeatable_lines(run()), expected = undisturbed();
  ASSERT_EQ(lines.size(), expected.size()) << ending.output;
  for (std::size_t i = 0; i < lines.size() && !marks; ++i) EXPECT_EQ(lines[i], expected[i]);
}

void expect_outcome(const Patient& patient, const Defect& defect) {
  const World world;
  const Ending ending = run_broken(world, patient, defect);
  const std::string log = log_of(world), all = ending.output + log;
  SCOPED_TRACE("the program said:\n" + shortened(ending.output) + "and logged:\n" + shortened(log));
  expect_exit_code(ending, defect.end);
  if (defect.end != End::kFinishes && defect.end != End::kObeys) {
    expect_name("the screen", ending.output, patient, defect);
    if (fs::exists(world.run())) expect_name("the log", log, patient, defect);
  }
  for (const std::string_view words : defect.says)
    EXPECT_NE(all.find(words), std::string::npos) << "it does not say: " << words;
  world.expect_whole();
  world.expect_to_go_on(defect.marks, World::call(patient, defect));
}

void expect_validation_to_find(const Patient& patient, const std::vector<Defect>& defects) {
  const ScratchFolder folder;
  const std::string file =
      KERNELRL_BINARY_DIR "/tests/broken/components/" + std::string(patient.kind) + ".krl.so";
  for (const Defect& defect : defects) {
    const std::string at(defect.at.empty() ? patient.function : defect.at);
    const Ending ending = run_program(
        {"plugins", "validate", file, "--timeout", "2", "--set",
         "defect=\"" + std::string(defect.name) + "\"", "--set", "at=" + at, "--set", "from=1"},
        folder.path());
    const bool found = ending.exit_code == 3 && ending.output.find("BROKEN") != std::string::npos;
    if (defect.name == "none") {
      EXPECT_EQ(ending.exit_code, 0) << ending.output;
    } else if (defect.end != End::kFinishes) {
      EXPECT_TRUE(found) << defect << " passes for sound:\n" << ending.output;
    }
  }
}

}  // namespace krl::test
