#include "core/learn/archive.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <kernelrl/evaluation_json.hpp>
#include <set>
#include <tuple>

#include "core/base/hash.hpp"
#include "core/learn/declared_metrics.hpp"
#include "core/measure/discovery.hpp"
#include "core/measure/structure.hpp"
#include "core/task/source_identity.hpp"

namespace krl::core {
namespace {

using nlohmann::json;

// Keeps what prompts show: no logs and samples, and of most figures the first case's alone.
Evaluation abridged(Evaluation evaluation) {
  evaluation.compile_log.clear();
  evaluation.diagnostics.clear();
  for (Case& c : evaluation.cases) c.samples_ns = c.baseline_samples_ns = {};
  std::erase_if(evaluation.values, [](const Value& value) {
    return value.case_index > 0 && value.name != "roofline" && value.name != "reference_speedup";
  });
  return evaluation;
}

bool is_kept(const TurnRecord& turn) {
  return turn.evaluation.passed() && std::isfinite(turn.evaluation.speedup());
}

bool ranks_before(const ArchivedKernel& a, const ArchivedKernel& b) {
  const double faster = a.evaluation.speedup(), slower = b.evaluation.speedup();
  return faster > slower || (faster == slower && std::tie(a.iteration, a.id, a.island) <
                                                     std::tie(b.iteration, b.id, b.island));
}

// The kernels that the episode began with, and the last right one that it wrote before this turn.
std::vector<std::string> parents_of(const Episode& episode, const TurnRecord& turn) {
  std::vector<std::string> ids;
  for (const TurnRecord& given : episode.given) ids.push_back(identity_of(given.candidate.source));
  const TurnRecord* last = nullptr;
  for (const TurnRecord& earlier : episode.turns) {
    if (&earlier == &turn) break;
    if (is_kept(earlier)) last = &earlier;
  }
  if (last == nullptr) return ids;
  const std::string id = identity_of(last->candidate.source);
  std::erase(ids, id);
  ids.push_back(id);
  return ids;
}

ArchivedKernel* find(std::vector<ArchivedKernel>& kernels, const std::string& id, int island) {
  const auto found = std::ranges::find_if(kernels, [&](const ArchivedKernel& kernel) {
    return kernel.id == id && kernel.island == island;
  });
  return found == kernels.end() ? nullptr : &*found;
}

std::vector<ArchivedKernel> only_of(const std::vector<ArchivedKernel>& kernels, int island) {
  std::vector<ArchivedKernel> own;
  std::ranges::copy_if(kernels, std::back_inserter(own),
                       [&](const ArchivedKernel& kernel) { return kernel.island == island; });
  return own;
}

// The groups of a round are dealt to the islands in turn, those of a task in other places each time.
int island_of_group(const GroupId& id, std::int64_t islands) {
  return static_cast<int>((static_cast<std::int64_t>(id.index) + id.round) % islands);
}

std::size_t drawn(std::size_t count, std::uint64_t seed) {
  return static_cast<std::size_t>(uniform_of(seed) * static_cast<double>(count));
}

std::size_t chosen(const std::vector<ArchivedKernel>& kernels, const ArchiveSettings& settings,
                   std::uint64_t seed) {
  if (settings.choose == ParentChoice::kPuct) return puct_choice(kernels, settings.c);
  if (settings.choose == ParentChoice::kUniform) return drawn(kernels.size(), seed);
  const std::vector<std::size_t> elites = elites_of(kernels);
  return elites[drawn(elites.size(), seed)];
}

// A partner for the kernel at `first`: of another structure, if there is one.
std::optional<std::size_t> partner_of(const std::vector<ArchivedKernel>& kernels, std::size_t first,
                                      std::uint64_t seed) {
  std::vector<std::size_t> others = elites_of(kernels);
  std::erase_if(others,
                [&](std::size_t i) { return kernels[i].structure == kernels[first].structure; });
  for (std::size_t i = 0; others.empty() && i < kernels.size(); ++i)
    if (i != first) others.push_back(i);
  if (others.empty()) return std::nullopt;
  return others[drawn(others.size(), seed)];
}

json to_json(const ArchivedKernel& kernel) {
  json j = {{"id", kernel.id},
            {"source", kernel.source},
            {"answer", kernel.answer},
            {"evaluation", kernel.evaluation},
            {"structure", kernel.structure},
            {"parents", kernel.parents},
            {"iteration", kernel.iteration},
            {"depth", kernel.depth},
            {"visits", kernel.visits},
            {"best_child", kernel.best_child ? json(*kernel.best_child) : json()}};
  if (kernel.tuned) j["tuned"] = true;
  if (kernel.island != 0) j["island"] = kernel.island;
  return j;
}

ArchivedKernel kernel_of(const json& j) {
  ArchivedKernel kernel;
  j.at("id").get_to(kernel.id);
  j.at("source").get_to(kernel.source);
  j.at("answer").get_to(kernel.answer);
  j.at("evaluation").get_to(kernel.evaluation);
  j.at("structure").get_to(kernel.structure);
  j.at("parents").get_to(kernel.parents);
  j.at("iteration").get_to(kernel.iteration);
  j.at("depth").get_to(kernel.depth);
  j.at("visits").get_to(kernel.visits);
  kernel.tuned = j.value("tuned", false);
  kernel.island = j.value("island", 0);
  if (const json& best = j.at("best_child"); !best.is_null())
    kernel.best_child = best.get<double>();
  return kernel;
}

// Counts what the episodes that began with a kernel made of it.
Metrics improvements(const std::vector<Episode>& episodes) {
  double all = 0, begun = 0, right = 0, faster = 0;
  for (const Episode& episode : episodes) {
    all += episode.tuned ? 0 : 1;
    if (episode.given.empty() || episode.tuned) continue;
    ++begun;
    const double parent = episode.given.back().evaluation.speedup();
    const auto any = [&](double least) {
      return std::ranges::any_of(episode.turns, [&](const TurnRecord& turn) {
        return is_kept(turn) && turn.evaluation.speedup() > least;
      });
    };
    right += any(0) ? 1 : 0;
    faster += any(kRecordFactor * parent) ? 1 : 0;
  }
  if (all == 0) return {};
  Metrics metrics = {{"archive/begun", begun / all}};
  if (begun == 0) return metrics;
  metrics["archive/right"] = right / begun;
  metrics["archive/improved"] = faster / begun;
  return metrics;
}

}  // namespace

double ArchivedKernel::worth() const { return std::log2(evaluation.speedup()); }

TurnRecord turn_of(const ArchivedKernel& kernel) {
  TurnRecord turn;
  turn.answer.text = kernel.answer;
  turn.candidate = {kernel.source, {}, Format::kExact};
  turn.evaluation = kernel.evaluation;
  return turn;
}

void Archive::begin(std::vector<Group>& groups) const {
  // The kernels of tasks and islands with the visits of this call.
  std::map<std::pair<std::string, int>, Kernels> pending;
  for (Group& group : groups) {
    const auto known = tasks_.find(group.task->id);
    const auto seed = [&](const char* of_what) {
      return seed_for(seed_, of_what, group.id.round, group.task->id, group.id.index);
    };
    if (known == tasks_.end() || uniform_of(seed("fresh")) < settings_.fresh) continue;
    const int island = island_of_group(group.id, settings_.islands);
    const auto [place, is_new] = pending.try_emplace({known->first, island});
    Kernels& kernels = place->second;
    if (is_new) kernels = only_of(known->second, island);
    if (kernels.empty()) continue;
    const std::size_t first = chosen(kernels, settings_, seed("parent"));
    if (settings_.parents > 1) {
      if (const auto second = partner_of(kernels, first, seed("partner")))
        group.given.push_back(turn_of(kernels[*second]));
    }
    group.given.push_back(turn_of(kernels[first]));
    group.begun_with = kernels[first].id;
    ++kernels[first].visits;
  }
}

Metrics Archive::add(int iteration, const std::vector<Episode>& episodes,
                     const TaskKernelIds& refused) {
  add_visits(episodes);
  for (const Episode& episode : episodes) {
    for (const TurnRecord& turn : episode.turns)
      if (is_kept(turn)) add_kernel(episode, turn, iteration);
  }
  for (const auto& [task, ids] : refused) {
    refused_[task].insert(ids.begin(), ids.end());
    std::erase_if(tasks_[task],
                  [&ids = ids](const ArchivedKernel& kernel) { return ids.contains(kernel.id); });
  }
  for (auto& [task, kernels] : tasks_) {
    if (settings_.exchange > 0 && iteration % settings_.exchange == 0) exchange(kernels);
    make_room(kernels);
  }
  Metrics metrics = improvements(episodes);
  write_totals(metrics);
  return metrics;
}

void Archive::add_visits(const std::vector<Episode>& episodes) {
  for (const Episode& episode : episodes) {
    const std::string& id = episode.begun_with;
    if (id.empty()) continue;
    ArchivedKernel* const parent = find(tasks_[episode.task->id], id, island_of(episode));
    if (parent == nullptr) continue;
    parent->visits += episode.member == 0 ? 1 : 0;
    if (episode.given.empty()) continue;  // the prompt had no room for it
    for (const TurnRecord& turn : episode.turns) {
      if (!is_kept(turn) || identity_of(turn.candidate.source) == id) continue;
      const double worth = std::log2(turn.evaluation.speedup());
      parent->best_child = std::max(parent->best_child.value_or(worth), worth);
    }
  }
}

// A tuned kernel belongs where the first of its parent does.
int Archive::island_of(const Episode& episode) const {
  if (!episode.tuned) return island_of_group(episode.group, settings_.islands);
  const Kernels& all = kernels(episode.task->id);
  const auto parent = std::ranges::find(all, identity_of(episode.given.back().candidate.source),
                                        &ArchivedKernel::id);
  return parent == all.end() ? 0 : parent->island;
}

// Copies the fastest kernel of each island to the next one, where nothing has been made of it yet.
void Archive::exchange(Kernels& kernels) const {
  std::ranges::sort(kernels, ranks_before);
  const Kernels before = kernels;
  for (int island = 0; island < settings_.islands; ++island) {
    const auto fastest = std::ranges::find(before, island, &ArchivedKernel::island);
    const int next = (island + 1) % static_cast<int>(settings_.islands);
    if (fastest == before.end() || find(kernels, fastest->id, next) != nullptr) continue;
    ArchivedKernel copy = *fastest;
    copy.island = next;
    copy.visits = 0;
    copy.best_child.reset();
    kernels.push_back(std::move(copy));
  }
}

void Archive::add_kernel(const Episode& episode, const TurnRecord& turn, int iteration) {
  const std::string id = identity_of(turn.candidate.source);
  if (refused_[episode.task->id].contains(id)) return;
  Kernels& kernels = tasks_[episode.task->id];
  const int island = island_of(episode);
  if (find(kernels, id, island) != nullptr) return;
  ArchivedKernel kernel;
  kernel.id = id;
  kernel.source = turn.candidate.source;
  kernel.answer = turn.answer.text;
  kernel.evaluation = abridged(turn.evaluation);
  kernel.structure = structure_of(turn.evaluation);
  kernel.parents = parents_of(episode, turn);
  kernel.iteration = iteration;
  kernel.tuned = episode.tuned;
  kernel.island = island;
  for (const std::string& parent : kernel.parents) {
    const ArchivedKernel* const known = find(kernels, parent, island);
    kernel.depth = std::max(kernel.depth, 1 + (known == nullptr ? 0 : known->depth));
  }
  kernels.push_back(std::move(kernel));
}

// Sorts the kernels and drops, of each island, the last of those that are not the fastest of their
// structure, and then the last.
void Archive::make_room(Kernels& kernels) const {
  const auto most = static_cast<std::size_t>(settings_.size);
  std::ranges::sort(kernels, ranks_before);
  for (int island = 0; island < settings_.islands; ++island) {
    if (std::ranges::count(kernels, island, &ArchivedKernel::island) <= settings_.size) continue;
    const Kernels own = only_of(kernels, island);
    const std::vector<std::size_t> elites = elites_of(own);
    std::vector<char> kept(own.size(), 0);
    for (std::size_t i = 0; i < std::min(most, elites.size()); ++i) kept[elites[i]] = 1;
    std::size_t room = most - std::min(most, elites.size());
    for (std::size_t i = 0; i < own.size() && room > 0; ++i) {
      if (kept[i] != 0) continue;
      kept[i] = 1;
      --room;
    }
    std::size_t place = 0;
    std::erase_if(kernels, [&](const ArchivedKernel& kernel) {
      return kernel.island == island && kept[place++] == 0;
    });
  }
}

const std::vector<ArchivedKernel>& Archive::kernels(const std::string& task) const {
  static const Kernels kNone;
  const auto known = tasks_.find(task);
  return known == tasks_.end() ? kNone : known->second;
}

void Archive::write_totals(Metrics& metrics) const {
  double all = 0, structures = 0;
  std::vector<double> depths;
  for (const auto& [task, kernels] : tasks_) {
    std::set<std::string_view> ids;  // islands may share kernels
    for (const ArchivedKernel& kernel : kernels) ids.insert(kernel.id);
    all += static_cast<double>(ids.size());
    structures += static_cast<double>(elites_of(kernels).size());
    if (!kernels.empty()) depths.push_back(kernels.front().depth);
  }
  metrics["archive/kernels"] = all;
  metrics["archive/structures"] = structures;
  if (!depths.empty()) metrics["archive/depth_of_best"] = mean_of(depths);
}

json Archive::state() const {
  json tasks = json::object();
  for (const auto& [task, kernels] : tasks_) {
    json& list = tasks[task] = json::array();
    for (const ArchivedKernel& kernel : kernels) list.push_back(to_json(kernel));
  }
  return {{"tasks", tasks}, {"refused", refused_}};
}

void Archive::restore(const json& state) {
  tasks_ = archived_kernels(state);
  // Older checkpoints do not say of which tasks.
  if (state.at("refused").is_object()) state.at("refused").get_to(refused_);
}

std::map<std::string, std::vector<ArchivedKernel>> archived_kernels(const json& state) {
  std::map<std::string, std::vector<ArchivedKernel>> tasks;
  for (const auto& [task, kernels] : state.at("tasks").items())
    for (const json& kernel : kernels) tasks[task].push_back(kernel_of(kernel));
  return tasks;
}

std::vector<std::size_t> elites_of(const std::vector<ArchivedKernel>& kernels) {
  std::vector<std::size_t> elites;
  std::set<std::string_view> structures;
  for (std::size_t i = 0; i < kernels.size(); ++i)
    if (structures.insert(kernels[i].structure).second) elites.push_back(i);
  return elites;
}

std::size_t puct_choice(const std::vector<ArchivedKernel>& kernels, double c) {
  const auto n = static_cast<double>(kernels.size());
  double visits = 0;
  for (const ArchivedKernel& kernel : kernels) visits += static_cast<double>(kernel.visits);
  const double least = kernels.back().worth(), scale = kernels.front().worth() - least;
  const auto score = [&](std::size_t i) {
    const ArchivedKernel& kernel = kernels[i];
    const double q = kernel.visits == 0 ? kernel.worth() : kernel.best_child.value_or(least);
    const double share = (n - static_cast<double>(i)) / (n * (n + 1) / 2);
    return q + c * scale * share * std::sqrt(1 + visits) / (1 + static_cast<double>(kernel.visits));
  };
  std::size_t best = 0;
  for (std::size_t i = 1; i < kernels.size(); ++i)
    if (score(i) > score(best)) best = i;
  return best;
}

void declare_archive_metrics(MetricNames& names) {
  for (const char* name : {"archive/begun", "archive/right", "archive/improved", "archive/kernels",
                           "archive/structures", "archive/depth_of_best"})
    names.of_iterations.emplace_back(name);
}

}  // namespace krl::core
