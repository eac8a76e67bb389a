// Redirects the output of plugins and their children to a file while a live view is drawn on the
// terminal, because it would tear the view apart.
#pragma once

#include <filesystem>

namespace krl::cli {

// Sends descriptors 1 and 2 to the end of `file` until it is destroyed; no errors: what cannot be
// sent there stays where it was. Main thread; one at a time.
class PluginOutput {
 public:
  explicit PluginOutput(const std::filesystem::path& file);
  PluginOutput(const PluginOutput&) = delete;
  PluginOutput& operator=(const PluginOutput&) = delete;
  ~PluginOutput();
};

}  // namespace krl::cli
