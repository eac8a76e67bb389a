// The archive of a stage: right kernels of its tasks, with which later episodes begin.
#pragma once

#include <cstdint>
#include <kernelrl/evaluation.hpp>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "core/base/metrics.hpp"
#include "core/episode/episode.hpp"
#include "core/episode/rollout.hpp"
#include "core/plan/plan.hpp"

namespace krl::core {

struct ArchivedKernel {
  std::string id;                    // identity_of its source
  std::string source, answer;        // answer: the text in which it was found
  Evaluation evaluation;             // as far as prompts show it
  std::string structure;             // structure_of its whole evaluation
  std::vector<std::string> parents;  // ids of the kernels that its prompt showed, the last one last
  int iteration = 0;                 // in which it was found
  int depth = 0;                     // edits that led to it from a kernel without parents
  bool tuned = false;                // it is its parent with other numbers
  int island = 0;                    // the part of the archive that it belongs to
  std::int64_t visits = 0;           // groups that began with it
  std::optional<double> best_child;  // worth of the best kernel that such a group found

  // log2 of the speedup: differences are factors.
  double worth() const;
};

// Returns the kernel as the turn that an episode begins with.
TurnRecord turn_of(const ArchivedKernel& kernel);

// Its state goes into checkpoints. What it chooses follows from that state, the seed and the names
// of the groups. One thread.
class Archive {
 public:
  Archive(const ArchiveSettings& settings, std::uint64_t seed) : settings_(settings), seed_(seed) {}

  // Chooses the kernels that these groups begin with. Groups of one call count as visits of the
  // others.
  void begin(std::vector<Group>& groups) const;

  // Takes in the episodes of an iteration: their right and timed kernels, each source once in its
  // island, as far as there is room; and what became of the kernels that they began with. Refused
  // kernels go and never come back. Every settings.exchange iterations each island then gets the
  // fastest of another.
  Metrics add(int iteration, const std::vector<Episode>& episodes,
              const TaskKernelIds& refused = {});

  // The kernels of a task, the fastest first.
  const std::vector<ArchivedKernel>& kernels(const std::string& task) const;

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  using Kernels = std::vector<ArchivedKernel>;

  void add_visits(const std::vector<Episode>& episodes);
  void add_kernel(const Episode& episode, const TurnRecord& turn, int iteration);
  int island_of(const Episode& episode) const;
  void exchange(Kernels& kernels) const;
  void make_room(Kernels& kernels) const;
  void write_totals(Metrics& metrics) const;

  const ArchiveSettings settings_;
  const std::uint64_t seed_;
  std::map<std::string, Kernels> tasks_;  // each sorted by rank
  TaskKernelIds refused_;
};

// Reads the kernels of each task out of a state. Throws a std::exception if it is none.
std::map<std::string, std::vector<ArchivedKernel>> archived_kernels(const nlohmann::json& state);

// Returns the places of the kernels that are the fastest of their structure. REQUIRES: the fastest
// come first.
std::vector<std::size_t> elites_of(const std::vector<ArchivedKernel>& kernels);

// Returns the place of the kernel whose score is highest, the first of equals:
//
//   Q + c * scale * P * sqrt(1 + T) / (1 + n)
//
// n: its visits, of T of all; Q: its worth before the first visit, and then that of the best kernel
// made from it, or the least of all where none was right; scale: the range of all worths; P: the
// share of its rank, N of N (N + 1) / 2 for the fastest. After TTT-Discover (arXiv 2601.16175).
std::size_t puct_choice(const std::vector<ArchivedKernel>& kernels, double c);

}  // namespace krl::core
