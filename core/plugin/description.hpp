// Reads the result of a plugin's entry point without trusting it: sizes before members, counts
// before lists, lengths before texts.
#pragma once

#include <kernelrl/abi.h>

#include <filesystem>
#include <vector>

#include "core/base/result.hpp"
#include "core/plan/keys.hpp"
#include "core/plugin/component.hpp"

namespace krl::core {

// Checks that the options which a component declares can be used. Names the first wrong one, and
// what to do: a key that no plan could set, or that exists twice; a range that cannot be read; a
// default that a plan could not have. Thread-safe.
Status check_options(Kind kind, const std::vector<KeyRule>& options);

// Returns the components of `plugin`, which may be null and was loaded from `file`; at least one,
// and no two of a kind with one id. A violation of a rule of abi.h is an error that names the
// component, and no component of the file is used; those of kinds that a later version has added
// are left out. Prose becomes one printable line. Thread-safe.
Result<std::vector<Component>> read_description(const krl_plugin* plugin,
                                                const std::filesystem::path& file);

}  // namespace krl::core
