// The dataset `templates`: generated pairs of a task and a right answer, for a warm start.
#include <algorithm>
#include <cstdint>
#include <kernelrl/sdk.hpp>
#include <kernelrl/spelling.hpp>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plugins/datasets/templates/generator.hpp"

namespace {

using krl::templates::Family;
using krl::templates::Operation;

class Templates final : public krl::Dataset {
 public:
  std::int64_t count = 600;
  std::int64_t seed = 0;
  double canonical = 0.5;
  double repair = 0.0;
  bool think = false;
  double naive = 0.0;
  std::int64_t max_block = 0;
  std::int64_t grid_scale = 1;

  static constexpr auto config = krl::config(
      krl::opt("count", &Templates::count, "number of pairs").range(1, 10'000'000),
      krl::opt("seed", &Templates::seed, "seed of the random choices in the pairs").at_least(0),
      krl::opt("canonical", &Templates::canonical,
               "share of pairs that use the same names as the tasks in configs/tasks")
          .range(0, 1),
      krl::opt("repair", &Templates::repair,
               "share of pairs in which a second turn repairs a broken kernel")
          .range(0, 1),
      krl::opt("think", &Templates::think, "start each answer with a line of reasoning"),
      krl::opt(
          "naive", &Templates::naive,
          "share of pairs whose answer is only the naive kernel, which leaves something to learn in the rl stages")
          .range(0, 1),
      krl::opt("max_block", &Templates::max_block,
               "maximum block size in answers, where the kernel permits a choice; 0 = no limit")
          .range(0, 1024),
      krl::opt(
          "grid_scale", &Templates::grid_scale,
          "factor on the number of blocks in grids that do not depend on the input size: 1 suits a few thousand elements, 32 a few million")
          .range(1, 1024),
      krl::free_opt("families", KRL_ARRAY,
                    "only these families: [\"elementwise\", \"row_reduction\"]"),
      krl::free_opt("only", KRL_ARRAY, "only the tasks with these ids"));

  void start(const krl::Config& config, const krl::Context&) override {
    std::vector<Family> families = krl::templates::all_families();
    const auto options = nlohmann::json::parse(config.json(), nullptr, false);
    keep_families(names_at(options, "families"), &families);
    keep_operations(names_at(options, "only"), &families);
    generator_ = std::make_unique<krl::templates::Generator>(
        std::move(families),
        krl::templates::GeneratorOptions{static_cast<std::uint64_t>(seed), canonical, repair, think,
                                         naive, max_block, grid_scale});
  }

  std::uint64_t size() override { return static_cast<std::uint64_t>(count); }

  void read(std::uint64_t index, const krl::DatasetSink& sink) override {
    if (index >= size()) krl::invalid_argument("there is no pair " + std::to_string(index));
    const krl::templates::Pair pair = generator_->generate(index);
    const std::string definition = krl::to_json_text(pair.task);
    krl_task task{};
    task.tier = static_cast<std::uint32_t>(pair.task.tier);
    task.id = krl::to_c(pair.task.id);
    task.title = krl::to_c(pair.task.title);
    task.prompt = krl::to_c(pair.task.prompt);
    task.definition_json = krl::to_c(definition);
    std::vector<std::string> earlier;
    if (pair.broken_answer) earlier.push_back(*pair.broken_answer);
    sink.pair(task, pair.answer, earlier);
  }

 private:
  using Names = std::vector<std::string>;

  // The array of strings at `key`; empty if it is not given.
  static Names names_at(const nlohmann::json& options, const char* key) {
    Names names;
    if (!options.is_object() || !options.contains(key)) return names;
    for (const nlohmann::json& element : options[key]) {
      if (!element.is_string())
        krl::invalid_argument(std::string(key) + ": " + element.dump() + " is not a string");
      names.push_back(element.get<std::string>());
    }
    return names;
  }

  static bool contains(const Names& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  }

  static void check(const char* key, const Names& wanted, const Names& known) {
    for (const std::string& name : wanted) {
      if (contains(known, name)) continue;
      krl::invalid_argument(std::string(key) + ": unknown name '" + name + "'" +
                            krl::did_you_mean(name, known));
    }
  }

  static void keep_families(const Names& wanted, std::vector<Family>* families) {
    Names known;
    for (const Family& family : *families) known.push_back(family.name);
    check("families", wanted, known);
    const auto unwanted = [&](const Family& family) {
      return !wanted.empty() && !contains(wanted, family.name);
    };
    families->erase(std::remove_if(families->begin(), families->end(), unwanted), families->end());
  }

  static void keep_operations(const Names& wanted, std::vector<Family>* families) {
    Names known;
    for (const Family& family : *families) {
      for (const Operation& operation : family.operations) known.push_back(operation.id);
    }
    check("only", wanted, known);
    const auto unwanted = [&](const Operation& operation) {
      return !wanted.empty() && !contains(wanted, operation.id);
    };
    for (Family& family : *families) {
      std::vector<Operation>& list = family.operations;
      list.erase(std::remove_if(list.begin(), list.end(), unwanted), list.end());
    }
  }

  std::unique_ptr<krl::templates::Generator> generator_;
};

}  // namespace

KRL_PLUGIN("templates", "0.1.0",
           krl::dataset<Templates>(
               "templates", "Generated pairs of a task and a correct answer, for a warm start"))
