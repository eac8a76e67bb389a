#include "tests/plans/tiny_model.hpp"

#include "plugins/policies/libtorch/engine/hugging_face_export.hpp"
#include "tests/unit/policies/tokenizer/tokenizer_documents.hpp"

namespace krl::test {

void write_tiny_qwen(const std::filesystem::path& directory, libtorch::Family family) {
  using namespace libtorch;
  using namespace policies;
  const bool thinks = family == Family::kQwen3;
  const std::string document =
      tokenizer_document({"<|endoftext|>", "<|im_start|>", "<|im_end|>"}, {"<think>", "</think>"})
          .dump();
  const ChatTokenizer chat(Tokenizer::from_json(document, "tokenizer.json"),
                           thinks ? ChatFamily::kQwen3 : ChatFamily::kQwen25, {},
                           {{"tokenizer.json", document}});
  const ParameterLayout layout({.family = family,
                                .layers = 2,
                                .hidden = 32,
                                .heads = 4,
                                .kv_heads = 2,
                                .ffn = 48,
                                .context = 4096,
                                .vocabulary = chat.tokenizer().vocabulary(),
                                .rope_theta = 1e6});
  std::filesystem::create_directories(directory);
  export_hugging_face(directory, layout, initial_weights(layout, 1), chat, ExportType::kBf16, "");
}

}  // namespace krl::test
