// Tasks y = k x for k = 1, 2, …: replace them with the kernels that your models should learn to write.
#include <cstdint>
#include <kernelrl/sdk.hpp>
#include <string>

struct @Name @final : krl::Dataset {
  std::int64_t count = 4;
  static constexpr std::uint32_t flags = KRL_DETERMINISTIC;
  static constexpr auto config =
      krl::config(krl::opt("count", &@Name @ ::count, "number of tasks").range(1, 100));

  std::uint64_t size() override { return static_cast<std::uint64_t>(count); }

  void read(std::uint64_t index, const krl::DatasetSink& sink, const krl::Context&) override {
    const std::string k = std::to_string(index + 1);
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

KRL_PLUGIN("@name@", "0.1.0", krl::dataset<@Name @>("@id@", "Tasks y = k x"))
