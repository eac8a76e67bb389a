// Who may know whom: the core and the plugins meet in the SDK alone.
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/abi/abi_header.hpp"

namespace krl {
namespace {

namespace fs = std::filesystem;

using Finds = std::vector<std::pair<std::string, std::string>>;  // file, text

// The files below `folder` with the first group of each match in them.
Finds matches_below(const std::string& folder, const std::regex& pattern) {
  Finds found;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(KERNELRL_SOURCE_DIR) / folder)) {
    const fs::path file = entry.path();
    const std::string suffix = file.extension();
    if (suffix != ".hpp" && suffix != ".cpp" && suffix != ".h" && suffix != ".c") continue;
    const std::string text = read_text(file);
    for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
      found.emplace_back(file, (*at)[1].str());
  }
  return found;
}

// What the files below `folder` include; "../x.hpp" is given from the root of the sources.
Finds includes_below(const std::string& folder) {
  Finds found = matches_below(folder, std::regex("#\\s*include\\s*[<\"]([^>\"]+)[>\"]"));
  for (auto& [file, header] : found) {
    if (header.rfind("..", 0) == 0)
      header = (fs::path(file).parent_path() / header)
                   .lexically_normal()
                   .lexically_relative(KERNELRL_SOURCE_DIR);
  }
  return found;
}

void expect_none(const std::string& folder, const std::string& forbidden) {
  const Finds includes = includes_below(folder);
  EXPECT_FALSE(includes.empty()) << folder;
  for (const auto& [file, header] : includes)
    EXPECT_NE(header.rfind(forbidden, 0), 0u) << file << " includes " << header;
}

// Each of the folders below `root` knows only those before it; `prefix` comes before their names in
// an include.
void expect_layers(const std::string& root, const std::vector<std::string>& layers,
                   const std::string& prefix) {
  for (std::size_t lower = 0; lower < layers.size(); ++lower) {
    for (std::size_t higher = lower + 1; higher < layers.size(); ++higher)
      expect_none(root + layers[lower], prefix + layers[higher] + "/");
  }
}

TEST(Includes, PluginsDoNotKnowTheCore) {
  for (const char* folder : {"core/", "service/", "cli/"}) expect_none("plugins", folder);
}
TEST(Includes, TheCoreDoesNotKnowPlugins) { expect_none("core", "plugins/"); }
TEST(Includes, TheCoreDoesNotKnowTorch) { expect_none("core", "torch/"); }
TEST(Includes, CoreServiceAndProgramAreLayers) {
  expect_layers("", {"core", "service", "serve", "cli"}, "");
  for (const char* folder : {"service", "serve", "cli"}) expect_none(folder, "plugins/");
}

TEST(Includes, TheCoresFoldersAreLayers) {
  expect_layers("core/",
                {"base", "task", "plan", "run", "plugin", "episode", "stage", "journal", "measure",
                 "learn", "experiment"},
                "core/");
}

TEST(Includes, TheServicesFoldersAreLayers) {
  expect_layers("service/",
                {"process", "plugins", "export", "runs", "plans", "kernels", "mutation", "doctor"},
                "service/");
}

TEST(Includes, TheServersFoldersAreLayers) {
  expect_layers("serve/", {"judging", "routing", "native", "dialects"}, "serve/");
}

TEST(Includes, TheSdkKnowsNobody) {
  for (const char* folder : {"http/", "core/", "service/", "serve/", "cli/", "plugins/"})
    expect_none("sdk", folder);
}

// A reward is built of the SDK, the standard library and nothing that it shares with another
// plugin.
TEST(Includes, RewardsDoNotKnowEachOther) { expect_none("plugins/rewards", "plugins/"); }

// Every plugin may use them, so they know none of them.
TEST(Includes, TheSharedLibrariesKnowTheSdkAlone) {
  for (const char* folder : {"rewards", "datasets", "policies", "backends", "retrieval"}) {
    expect_none("plugins/files", std::string("plugins/") + folder);
    expect_none("plugins/process", std::string("plugins/") + folder);
    expect_none("plugins/python", std::string("plugins/") + folder);
  }
}

// Plugins use it, so it knows the SDK alone; its folders are layers.
TEST(Includes, HttpKnowsTheSdkAlone) {
  for (const char* folder : {"core/", "service/", "serve/", "cli/", "plugins/"})
    expect_none("http", folder);
  for (const char* folder : {"http/client/", "http/server/"}) expect_none("http/base", folder);
  expect_none("http/client", "http/server/");
  expect_none("http/server", "http/client/");
}

// One library speaks HTTP, and decides what is verified and what is kept secret.
TEST(Includes, NobodyElseSpeaksHttp) {
  for (const char* folder : {"core", "service", "cli"}) expect_none(folder, "http/");
  for (const char* folder : {"core", "service", "serve", "cli", "plugins"}) {
    expect_none(folder, "boost/beast/");
    expect_none(folder, "openssl/ssl.h");
    expect_none(folder, "boost/asio/ssl");
  }
}

// Other front ends than the program have no command line.
TEST(Messages, OfTheLibraryNameNoOptions) {
  const std::regex option("(\"[^\"\n]*[ (`']--[a-z][^\"\n]*\")");
  for (const char* folder : {"core", "service"}) {
    for (const auto& [file, text] : matches_below(folder, option))
      ADD_FAILURE() << file << ": " << text;
  }
}

// A backend may use those before it.
TEST(Includes, TheBackendsFoldersAreLayers) {
  expect_layers("plugins/backends/",
                {"remote", "elf", "ptx", "compiled", "evaluator", "python_answers", "cuda", "nvrtc",
                 "nvcc", "docker", "cpu", "emulate"},
                "plugins/backends/");
  expect_none("plugins/backends/cpu", "plugins/backends/cuda/");
  expect_layers("plugins/backends/cuda/", {"host", "worker", "gpu"}, "plugins/backends/cuda/");
  expect_layers("plugins/backends/evaluator/",
                {"sandbox", "compile", "cache", "oracle", "check", "candidate"},
                "plugins/backends/evaluator/");
  expect_layers("plugins/backends/cpu/", {"machine", "plugin"}, "plugins/backends/cpu/");
  expect_layers("plugins/backends/cpu/machine/", {"memory", "operations", "decode"},
                "plugins/backends/cpu/machine/");
}

// What policies share knows no policy; each folder of the local policy knows only those before it.
TEST(Includes, ThePoliciesFoldersAreLayers) {
  expect_layers(
      "plugins/policies/",
      {"losses", "storage", "tokenizer", "libtorch/base", "libtorch/cuda", "libtorch/model",
       "libtorch/generation", "libtorch/training", "libtorch/engine", "libtorch/distributed"},
      "plugins/policies/");
}

TEST(Includes, PoliciesDoNotKnowEachOther) {
  const std::vector<std::string> policies = {"libtorch", "openai", "tinker"};
  for (const std::string& policy : policies) {
    for (const std::string& other : policies)
      if (other != policy) expect_none("plugins/policies/" + policy, "plugins/policies/" + other);
  }
}

// Retrieval takes files and tokens from what policies share, and knows no plugin.
TEST(Includes, RetrievalsFoldersAreLayers) {
  expect_layers("plugins/retrieval/",
                {"wordpiece", "encoder", "index", "duplicates", "search", "plugin"},
                "plugins/retrieval/");
  for (const char* folder : {"rewards", "datasets", "backends", "policies/libtorch",
                             "policies/openai", "policies/tinker"}) {
    expect_none("plugins/retrieval", std::string("plugins/") + folder);
  }
}

}  // namespace
}  // namespace krl
