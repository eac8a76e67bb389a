// A dataset of tasks y = k x, for k = 2, 3, …
#include <kernelrl/sdk.hpp>

#include <string>

struct ScaledCopies final : krl::Dataset {
  std::int64_t count = 8;
  static constexpr auto config =
      krl::config(krl::opt("count", &ScaledCopies::count, "number of tasks").range(1, 1000));

  std::uint64_t size() override { return static_cast<std::uint64_t>(count); }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    if (index >= size()) krl::invalid_argument("there is no task " + std::to_string(index));
    const std::string factor = std::to_string(index + 2);
    const std::string id = "scaled_copy_" + factor;
    const std::string prompt = "y[i] = " + factor + " x[i].";
    const std::string definition = with_factor(factor);
    krl_task task{};
    task.tier = 0;
    task.id = krl::to_c(id);
    task.title = krl::to_c("Scaled copy");
    task.prompt = krl::to_c(prompt);
    task.definition_json = krl::to_c(definition);
    sink.task(task);
  }

 private:
  // The keys of a task file, as JSON; K stands for the factor.
  static std::string with_factor(const std::string& factor) {
    std::string text = R"({
      "id": "scaled_copy_K", "tier": 0, "title": "Scaled copy", "prompt": "y[i] = K x[i].",
      "axes": {"n": "var"},
      "reference": "def run(x):\n    return x * K\n",
      "naive": "__global__ void scale(const float* x, float* y, int n) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) y[i] = K * x[i];\n}\n",
      "cases": [{"n": 4096}, {"n": 1001}],
      "input": [{"name": "x", "dtype": "float32", "shape": ["n"], "values": "normal"}],
      "output": [{"name": "y", "dtype": "float32", "shape": ["n"]}]
    })";
    for (std::size_t at; (at = text.find('K')) != std::string::npos;) text.replace(at, 1, factor);
    return text;
  }
};

KRL_PLUGIN("scaled_copies", "1.0.0",
           krl::dataset<ScaledCopies>("example.scaled_copies", "Tasks y = k x"))
