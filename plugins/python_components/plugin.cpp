// The plugin `python`: a reward, dataset, backend or policy that the user writes in Python.
#include <kernelrl/sdk.hpp>
#include <optional>
#include <vector>

#include "plugins/python_components/backend.hpp"
#include "plugins/python_components/boundary_json.hpp"
#include "plugins/python_components/policy.hpp"
#include "plugins/python_components/worker.hpp"

namespace krl::python_components {
namespace {

class PythonReward final : public Reward, public PythonFile {
 public:
  static constexpr auto config = PythonFile::config;

  void start(const Config& config, const Context& context) override {
    worker_.emplace("reward", *this, config, context);
  }

  std::vector<double> score_all(const Turns& turns, const Context& context) override {
    nlohmann::json all = nlohmann::json::array();
    for (const Turn turn : turns) all.push_back(json_of(turn));
    const auto scores = worker_->call({{"call", "score"}, {"turns", all}}, context);
    return scores.get<std::vector<double>>();
  }

 private:
  std::optional<Worker> worker_;
};

class PythonDataset final : public Dataset, public PythonFile {
 public:
  static constexpr auto config = PythonFile::config;

  void start(const Config& config, const Context& context) override {
    worker_.emplace("dataset", *this, config, context);
  }

  std::uint64_t size() override { return worker_->description().at("size").get<std::uint64_t>(); }

  void read(std::uint64_t index, const DatasetSink& sink, const Context& context) override {
    push_item(worker_->call({{"call", "read"}, {"index", index}}, context).get<std::string>(),
              sink);
  }

 private:
  std::optional<Worker> worker_;
};

}  // namespace
}  // namespace krl::python_components

KRL_PLUGIN("python", "1.0.0",
           krl::reward<krl::python_components::PythonReward>("python", "A reward in Python"),
           krl::dataset<krl::python_components::PythonDataset>("python", "A dataset in Python"),
           krl::backend<krl::python_components::PythonBackend>("python", "A backend in Python"),
           krl::policy<krl::python_components::PythonPolicy>("python", "A policy in Python"))
