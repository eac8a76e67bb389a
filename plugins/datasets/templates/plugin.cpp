// The dataset `templates`: generated pairs of a task and a right answer, for a warm start; proposed
// tasks, and pairs of them.
#include <cstdint>
#include <kernelrl/option_lists.hpp>
#include <kernelrl/sdk.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/datasets/templates/generator.hpp"
#include "plugins/datasets/templates/proposer.hpp"

namespace {

using krl::templates::Family;
using krl::templates::Operation;

class Templates final : public krl::Dataset {
 public:
  std::int64_t count = 600;
  std::int64_t seed = 0;
  double canonical = 0.5;
  double repair = 0.0;
  double improve = 0.0;
  bool think = false;
  double naive = 0.0;
  std::int64_t max_block = 0;
  std::int64_t grid_scale = 1;
  std::int64_t propose = 0;
  std::int64_t hardest = 4;
  bool unseen = false;
  bool mechanisms = false;
  std::string language = "cuda";

  static constexpr auto config = krl::config(
      krl::opt("count", &Templates::count, "number of pairs").range(0, 10'000'000),
      krl::opt("seed", &Templates::seed, "seed of the random choices in the pairs").at_least(0),
      krl::opt("canonical", &Templates::canonical,
               "share of pairs that use the same names as the tasks in configs/tasks")
          .range(0, 1),
      krl::opt("repair", &Templates::repair,
               "share of pairs in which a second turn repairs a broken kernel")
          .range(0, 1),
      krl::opt(
          "improve", &Templates::improve,
          "share of pairs of two right kernels, of which the faster one, as the plan's backend measures, improves the other")
          .range(0, 1),
      krl::opt("think", &Templates::think, "start each answer with a line of reasoning"),
      krl::opt(
          "naive", &Templates::naive,
          "share of pairs whose answer is only the naive kernel, which leaves something to learn in the rl stages")
          .range(0, 1),
      krl::opt(
          "max_block", &Templates::max_block,
          "maximum block size in answers: kernels with larger blocks are not shown; must allow the naive kernels; 0 = no limit")
          .range(0, 1024),
      krl::opt(
          "grid_scale", &Templates::grid_scale,
          "factor on the number of blocks in grids that do not depend on the input size: 1 suits a few thousand elements, 32 a few million; with `mechanisms` the least number of them")
          .range(1, 1024),
      krl::opt("propose", &Templates::propose,
               "number of new tasks to compose from steps, of which all pairs are then; 0 = none")
          .range(0, 10'000),
      krl::opt("hardest", &Templates::hardest,
               "proposed tasks have difficulties of 1 to this, and the tiers 0, 1, …")
          .range(1, 10),
      krl::opt("unseen", &Templates::unseen,
               "propose from the fifth of all tasks that is never proposed without this option"),
      krl::opt("mechanisms", &Templates::mechanisms,
               "draw the variants that are named after how they work, in wide ranges of sizes, and "
               "of the others of their families only the naive ones"),
      krl::opt("language", &Templates::language,
               "of the kernels; in Triton there are fewer families, none of them with repair, "
               "mechanisms or propose")
          .one_of("cuda|triton"),
      krl::free_opt("withhold", KRL_ARRAY,
                    "with `mechanisms`: cells that no pair shows: [\"row_cache:softmax_rows\"]"),
      krl::free_opt("families", KRL_ARRAY,
                    "only these families: [\"elementwise\", \"row_reduction\"]"),
      krl::free_opt("only", KRL_ARRAY, "only the tasks with these ids"),
      krl::free_opt("except", KRL_ARRAY, "all but the tasks with these ids"));

  void start(const krl::Config& config, const krl::Context&) override {
    for (const char* key : {"families", "only", "except"}) {
      if (propose > 0 && !krl::list_option<std::string>(config, key).empty())
        krl::invalid_argument(std::string(key) + " cannot be used with propose");
    }
    if (propose > 0 && mechanisms)
      krl::invalid_argument("mechanisms cannot be used with propose: no proposed task has any");
    if (language == "triton" && (repair > 0 || mechanisms || propose > 0))
      krl::invalid_argument("repair, mechanisms and propose need language = \"cuda\"");
    std::vector<Family> families = propose > 0            ? proposed()
                                   : language == "triton" ? krl::templates::triton_families()
                                                          : krl::templates::all_families();
    if (!mechanisms)
      std::erase_if(families, [](const Family& family) { return family.only_with_mechanisms; });
    keep_families(config, &families);
    keep_operations(config, &families);
    generator_ = std::make_unique<krl::templates::Generator>(
        std::move(families),
        krl::templates::GeneratorOptions{static_cast<std::uint64_t>(seed), canonical, repair, think,
                                         naive, max_block, grid_scale, improve, mechanisms,
                                         krl::list_option<std::string>(config, "withhold")});
  }

  std::uint64_t size() override { return tasks_.size() + static_cast<std::uint64_t>(count); }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    if (index >= size()) krl::invalid_argument("there is no item " + std::to_string(index));
    if (index < tasks_.size()) {
      give(tasks_[index], [&](const krl_task& task) { sink.task(task); });
      return;
    }
    const krl::templates::Pair pair = generator_->generate(index - tasks_.size());
    std::vector<std::string> earlier;
    if (pair.earlier_answer) earlier.push_back(*pair.earlier_answer);
    std::string shows;
    for (const std::string& mechanism : pair.mechanisms)
      shows += (shows.empty() ? "" : ",") + mechanism;
    give(pair.task, [&](const krl_task& task) { sink.pair(task, pair.answer, earlier, shows); });
  }

 private:
  template <class Use>
  static void give(const krl::TaskDefinition& definition, Use use) {
    const std::string json = krl::to_json_text(definition);
    krl_task task{};
    task.tier = static_cast<std::uint32_t>(definition.tier);
    task.id = krl::to_c(definition.id);
    task.title = krl::to_c(definition.title);
    task.prompt = krl::to_c(definition.prompt);
    task.definition_json = krl::to_c(json);
    use(task);
  }

  // The families of the proposed tasks, which become tasks_ as well.
  std::vector<Family> proposed() {
    krl::templates::Proposals proposals =
        krl::templates::propose(static_cast<std::uint64_t>(seed), propose, hardest, unseen);
    for (const auto& [f, o] : proposals.places) {
      const Family& family = proposals.families[f];
      const Operation& operation = family.operations[o];
      tasks_.push_back(krl::templates::Generator::task(family, operation,
                                                       krl::templates::canonical_names(operation)));
    }
    return std::move(proposals.families);
  }

  using Names = std::vector<std::string>;

  static void keep_families(const krl::Config& config, std::vector<Family>* families) {
    Names known;
    for (const Family& family : *families) known.push_back(family.name);
    const Names wanted = krl::names_option(config, "families", known);
    const auto unwanted = [&](const Family& family) {
      return !wanted.empty() && !krl::contains(wanted, family.name);
    };
    std::erase_if(*families, unwanted);
  }

  static void keep_operations(const krl::Config& config, std::vector<Family>* families) {
    Names known;
    for (const Family& family : *families) {
      for (const Operation& operation : family.operations) known.push_back(operation.id);
    }
    const Names wanted = krl::names_option(config, "only", known);
    const Names refused = krl::names_option(config, "except", known);
    const auto unwanted = [&](const Operation& operation) {
      return (!wanted.empty() && !krl::contains(wanted, operation.id)) ||
             krl::contains(refused, operation.id);
    };
    for (Family& family : *families) std::erase_if(family.operations, unwanted);
  }

  std::vector<krl::TaskDefinition> tasks_;  // proposed
  std::unique_ptr<krl::templates::Generator> generator_;
};

}  // namespace

KRL_PLUGIN("templates", "0.1.0",
           krl::dataset<Templates>(
               "templates", "Generated pairs of a task and a correct answer, for a warm start"))
