// A dataset through the C boundary of its built plugin.
#pragma once

#include <kernelrl/testing.hpp>
#include <string>
#include <utility>
#include <vector>

namespace krl::testing {

struct Item {
  std::string id, prompt, definition;  // of a task, or of the task of a pair
  std::string answer;
  std::vector<std::string> earlier;
  std::string shows;                  // of a pair
  std::string text, task_hint, meta;  // of a document, with its id
};

class DatasetUnderTest {
 public:
  DatasetUnderTest(const std::string& name, Table options)
      : plugin_(KERNELRL_BINARY_DIR "/lib/kernelrl/plugins/" + name + ".krl.so"),
        dataset_(plugin_.create<krl_dataset_v>(KRL_DATASET, name, std::move(options))) {}

  std::uint64_t size() const {
    std::uint64_t count = 0;
    dataset_.call().require(dataset_.table().size(dataset_.self(), dataset_.context(), &count));
    return count;
  }

  Item read(std::uint64_t index) const {
    Item item;
    krl_dataset_sink sink{};
    sink.struct_size = sizeof sink;
    sink.ctx = &item;
    sink.task = [](const krl_dataset_sink* self, const krl_task* task) -> krl_status {
      copy(*task, static_cast<Item*>(self->ctx));
      return KRL_OK;
    };
    sink.pair = [](const krl_dataset_sink* self, const krl_pair* pair) -> krl_status {
      auto* item = static_cast<Item*>(self->ctx);
      copy(*pair->task, item);
      item->answer = view(pair->answer);
      item->shows = view(pair->shows);
      for (std::uint32_t i = 0; i < pair->n_earlier; ++i)
        item->earlier.emplace_back(view(pair->earlier[i]));
      return KRL_OK;
    };
    sink.document = [](const krl_dataset_sink* self, const krl_document* document) -> krl_status {
      auto* item = static_cast<Item*>(self->ctx);
      item->id = view(document->id);
      item->text = view(document->text);
      item->task_hint = view(document->task_hint);
      item->meta = view(document->meta_json);
      return KRL_OK;
    };
    dataset_.call().require(
        dataset_.table().read(dataset_.self(), dataset_.context(), index, &sink));
    return item;
  }

  // What it has logged.
  std::vector<std::string> messages() const {
    std::vector<std::string> texts;
    for (const auto& [level, text] : dataset_.call().messages) texts.push_back(text);
    return texts;
  }

 private:
  static void copy(const krl_task& task, Item* item) {
    item->id = view(task.id);
    item->prompt = view(task.prompt);
    item->definition = view(task.definition_json);
  }

  Plugin plugin_;
  Instance<krl_dataset_v> dataset_;
};

// What refusing the options says.
inline std::string refusal(const std::string& name, Table options) {
  try {
    const DatasetUnderTest dataset(name, std::move(options));
  } catch (const Failure& failure) {
    return failure.what();
  }
  return "";
}

}  // namespace krl::testing
