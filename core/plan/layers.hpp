// The layers of a plan, read and merged: includes, then the file, then files that a command lays
// over it, then `--set` arguments.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/plan/node.hpp"
#include "core/plan/source.hpp"

namespace krl::core {

// Merges the layers into one tree without `include`; nothing if a file could not be read. Errors go
// to `problems`, notes on entries that a layer removes to `notes`, but for the files `over`: their
// command says what they replace. The origin of the root is the
// plan's file as a whole.
std::optional<Node> read_layers(const std::filesystem::path& file,
                                const std::vector<std::filesystem::path>& over,
                                const std::vector<std::string>& overrides,
                                std::vector<Problem>& problems, std::vector<std::string>& notes);

// Lays `over` on `base`: tables are merged key by key, everything else is replaced. If `over`
// chooses another component (`use`), loss (`learn.loss.name`) or schedule, the options of the old
// choice are removed. `path` is the dotted name of the table, "" for the whole plan. Pure.
void merge(Node& base, const Node& over, const std::string& path = {});

// Lays `layer` on `tables`: the whole plan (`stage` is null), or those in force during `stage`, or
// the table of `stage` itself. A list of tables (dataset, reward, stage) of the layer replaces the
// existing one, and the lists in its table `add` are appended: [[add.reward]]. In the table of a
// stage, elements added to a list that the stage does not have wait in its `add`. A replaced list
// that loses elements is worth a line in `notes`. Elements that cannot be added stay in the `add`
// of `tables`. Pure.
void lay(Node& tables, const Node& layer, const Node* stage, std::vector<std::string>& notes);

// Reports and removes the rest in the `add` of tables: those of the plan, or of a stage.
void refuse_additions(Node& tables, bool of_stage, std::vector<Problem>& problems);

}  // namespace krl::core
