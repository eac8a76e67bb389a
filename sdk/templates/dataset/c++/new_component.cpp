// Tasks y = k x for k = 2, 3, …: replace them with the kernels that your models should learn to write.
#include <cstdint>
#include <kernelrl/sdk.hpp>
#include <string>

struct NewComponent final : krl::Dataset {
  std::int64_t count = 4;
  static constexpr std::uint32_t flags = KRL_DETERMINISTIC;
  static constexpr auto config =
      krl::config(krl::opt("count", &NewComponent::count, "number of tasks").range(1, 100));

  std::uint64_t size() override { return static_cast<std::uint64_t>(count); }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    if (index >= size()) krl::invalid_argument("there is no task " + std::to_string(index));
    const std::string k = std::to_string(index + 2);
    const std::string id = "scaled_copy_" + k, prompt = "Write y[i] = " + k + " x[i].";
    const std::string definition = definition_of(id, prompt, k);
    krl_task task{};
    task.id = krl::to_c(id);
    task.title = krl::to_c("Scaled copy");
    task.prompt = krl::to_c(prompt);
    task.definition_json = krl::to_c(definition);
    sink.task(task);
  }

 private:
  // The keys are those of a task file, docs/tasks.md.
  static std::string definition_of(const std::string& id, const std::string& prompt,
                                   const std::string& k) {
    return R"({"id": ")" + id + R"(", "title": "Scaled copy", "prompt": ")" + prompt +
           R"(", "axes": {"n": "var"},
            "input": [{"name": "x", "dtype": "float32", "shape": ["n"], "values": "normal"}],
            "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}],
            "reference": "def run(x):\n    return )" +
           k + R"( * x\n",
            "cases": [{"n": 4096}], "holdout": [{"n": 1000}]})";
  }
};

KRL_PLUGIN("new_component", "0.1.0",
           krl::dataset<NewComponent>("new_vendor.new_component", "Tasks y = k x"))
