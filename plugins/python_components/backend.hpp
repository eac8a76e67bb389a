// A backend in Python: as many processes as evaluations may overlap. A process that ends loses the
// evaluation that it was at. Thread-safe.
#pragma once

#include <condition_variable>
#include <kernelrl/evaluation_json.hpp>
#include <kernelrl/sdk.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugins/files/digest.hpp"
#include "plugins/files/file.hpp"
#include "plugins/python_components/boundary_json.hpp"
#include "plugins/python_components/worker.hpp"

namespace krl::python_components {

class PythonBackend final : public Backend, public PythonFile {
 public:
  std::int64_t workers = 1;

  static constexpr std::uint32_t flags = KRL_THREAD_SAFE | KRL_TAKES_HOST;
  static constexpr auto config = std::tuple_cat(
      PythonFile::config, krl::config(opt("workers", &PythonBackend::workers,
                                          "processes, each of which evaluates one kernel at a time")
                                          .range(1, 256)));

  void start(const Config& config, const Context& context) override {
    for (std::int64_t i = 0; i < workers; ++i)
      idle_.push_back(std::make_unique<Worker>("backend", *this, config, context));
    const nlohmann::json& said = idle_.front()->description();
    info_.concurrency = static_cast<std::uint32_t>(workers);
    info_.signals = signals_of(said.at("signals"));
    said.at("device").get_to(info_.device);
    // Evaluations by another version of the file are not taken for its own.
    info_.toolchain = said.at("toolchain").get<std::string>();
    info_.toolchain += (info_.toolchain.empty() ? "" : ", ") + std::string("file ") +
                       files::sha256_hex(files::read_file_or_empty(file)).substr(0, 12);
  }

  BackendInfo describe() override { return info_; }

  void prepare(const Task& task, const EvaluateOptions&, const Context& context) override {
    ask({{"call", "prepare"}, {"task", json_of(task)}}, context);
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) override {
    Evaluation evaluation =
        ask({{"call", "evaluate"}, {"candidate", json_of(candidate, options)}}, context);
    evaluation.toolchain = info_.toolchain;
    evaluation.device = info_.device;
    sink.push(evaluation);
  }

 private:
  nlohmann::json ask(nlohmann::json request, const Context& context) {
    auto worker = take();
    struct GiveBack {
      PythonBackend& backend;
      std::unique_ptr<Worker>& worker;
      ~GiveBack() { backend.give(std::move(worker)); }
    } give_back{*this, worker};
    return worker->call(std::move(request), context);
  }

  // The host has no more calls at a time than there are workers, preparations aside.
  std::unique_ptr<Worker> take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !idle_.empty(); });
    auto worker = std::move(idle_.back());
    idle_.pop_back();
    return worker;
  }

  void give(std::unique_ptr<Worker> worker) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(worker));
    returned_.notify_one();
  }

  BackendInfo info_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<std::unique_ptr<Worker>> idle_;
};

}  // namespace krl::python_components
