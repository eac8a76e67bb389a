#include "serve/judging/judge_identity.hpp"

#include <set>
#include <string_view>

#include "core/plan/loader.hpp"

namespace krl::serve {
namespace {

// No verdict and no time follows from these options of the built-in backends: what a machine has
// differs within a fleet. The tools and the GPU are in Judge::identity().
const std::set<std::string_view> kResources = {
    "ca_file", "cache",  "cache_mb",  "concurrency",     "connect_timeout_s", "cuda",
    "gpus",    "hedge",  "members",   "members_every_s", "patience_s",        "sandbox",
    "servers", "socket", "timeout_s", "token_env",       "token_file"};

// A line with the options that count; empty if there are none.
std::string changed_options(const ComponentSettings& settings, const Catalog& catalog) {
  const auto usual = configure_component(Kind::kBackend, settings.use, {}, catalog);
  const auto defaults = usual ? usual->options : nlohmann::json::object();
  auto changed = nlohmann::json::object();
  for (const auto& [key, value] : settings.options.items()) {
    if (!kResources.contains(key) && defaults.value(key, nlohmann::json()) != value)
      changed[key] = value;
  }
  return changed.empty() ? "" : "\n" + settings.use + " " + changed.dump();
}

}  // namespace

std::string judge_identity(const std::string& backends, const BackendSettings& settings,
                           const Catalog& catalog) {
  std::string text = backends + changed_options(settings, catalog);
  for (const ComponentSettings* other : settings.others()) text += changed_options(*other, catalog);
  return text;
}

}  // namespace krl::serve
