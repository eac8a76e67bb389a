// A backend in Python: as many processes as evaluations may overlap. A process that ends loses the
// evaluation that it was at. Thread-safe.
#pragma once

#include <condition_variable>
#include <cstdint>
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
      idle_.push_back({std::make_unique<Worker>("backend", *this, config, context)});
    const nlohmann::json& said = idle_.front().worker->description();
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
    nlohmann::json request = {{"call", "prepare"}, {"task", json_of(task)}};
    with_worker([&](Place& place) { place.worker->call(request, context); });
    const std::lock_guard lock(mutex_);
    prepared_.push_back(std::move(request));
  }

  void evaluate(const Candidate& candidate, const EvaluateOptions& options,
                const EvaluationSink& sink, const Context& context) override {
    with_worker([&](Place& place) {
      catch_up(place, context);
      Evaluation evaluation = place.worker->call(
          {{"call", "evaluate"}, {"candidate", json_of(candidate, options)}}, context);
      evaluation.toolchain = info_.toolchain;
      evaluation.device = info_.device;
      sink.push(evaluation);
    });
  }

 private:
  // A worker, and how many of the tasks its process has prepared.
  struct Place {
    std::unique_ptr<Worker> worker;
    std::uint64_t process = 0;  // the number of the worker's process
    std::size_t prepared = 0;
  };

  // Prepares what other processes, or an earlier one of this worker, have prepared.
  void catch_up(Place& place, const Context& context) {
    const std::uint64_t process = place.worker->ensure_started(context);
    if (place.process != process) place.prepared = 0;
    place.process = process;
    for (;; ++place.prepared) {
      nlohmann::json request;
      {
        const std::lock_guard lock(mutex_);
        if (place.prepared == prepared_.size()) return;
        request = prepared_[place.prepared];
      }
      place.worker->call(std::move(request), context);
    }
  }

  // Calls `work` with an idle worker. The host has no more evaluations at a time than there are
  // workers.
  template <class Work>
  void with_worker(const Work& work) {
    Place place = take();
    struct GiveBack {
      PythonBackend& backend;
      Place& place;
      ~GiveBack() { backend.give(std::move(place)); }
    } give_back{*this, place};
    work(place);
  }

  Place take() {
    std::unique_lock lock(mutex_);
    returned_.wait(lock, [&] { return !idle_.empty(); });
    Place place = std::move(idle_.back());
    idle_.pop_back();
    return place;
  }

  void give(Place place) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(place));
    returned_.notify_one();
  }

  BackendInfo info_;
  std::mutex mutex_;
  std::condition_variable returned_;
  std::vector<Place> idle_;
  std::vector<nlohmann::json> prepared_;  // the requests, in their order
};

}  // namespace krl::python_components
