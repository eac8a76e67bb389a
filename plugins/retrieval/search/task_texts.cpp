#include "plugins/retrieval/search/task_texts.hpp"

#include <kernelrl/task_definition.hpp>

namespace krl::retrieval {

TaskTexts texts_of(const Task& task) {
  TaskTexts texts;
  texts.query = std::string(task.title()) + "\n" + std::string(task.prompt());
  texts.names = {std::string(task.id()), std::string(task.title())};
  const auto definition = parse_task_definition(task.definition_json());
  if (!definition) return texts;
  texts.query += "\n" + definition->reference;
  for (const std::string& text : {definition->reference, definition->naive})
    if (!text.empty()) texts.guarded.push_back(text);
  return texts;
}

}  // namespace krl::retrieval
