#include "plugins/policies/tokenizer/chat_template.hpp"

#include <algorithm>
#include <array>

#include "plugins/files/digest.hpp"
#include "plugins/policies/tokenizer/utf8.hpp"

namespace krl::policies {
namespace {

struct KnownTemplate {
  ChatFamily family;
  std::string_view name;
  std::array<std::string_view, 2> digests;  // digests of published copies: chat_template_digest()
};

constexpr KnownTemplate kKnownTemplates[] = {
    {ChatFamily::kScratch,
     "scratch",
     {"2ccbab8c6be343aaae9bcc882cea9e1835e41c44490a0867c3655492cfca4119"}},
    {ChatFamily::kChatml,
     "chatml",
     {"153280e3ff55d19da1398bdb3914ee2a51b80429bfaedde11d7d216c39db80f3"}},
    {ChatFamily::kSmollm2,
     "smollm2",
     {"872be49dbb638044ad01b60388f48d469ff2980e5f0dccdc22ec907db54d0788"}},
    {ChatFamily::kQwen2,
     "qwen2",
     {"793202280c0910ab26bc6eb57c8212c2417324c6d8c4efd0d10d59092ab3e3eb"}},
    {ChatFamily::kQwen25,
     "qwen2.5",
     {"a18cc698dd45623eb707279d08e66f7bb8d76afc89ead84016b88487b395b5cc"}},
    {ChatFamily::kQwen3,
     "qwen3",
     {"edcd73b0e30a780c1d6f3e060c07396def3c3fa55a2c55197b10f99d1dde83e1",
      "2df317a15cbc983d9602cc391d33be17237d47ec7eb11ead80fae277143958aa"}},
    {ChatFamily::kQwen3Instruct,
     "qwen3-instruct",
     {"aa39eed4cbfdd57aeaab518e83d06945f00df6afefba6eb985b6b85060cade95"}},
    {ChatFamily::kLlama3,
     "llama3",
     {"ba03a121d097859c7b5b9cd03af99aafe95275210d2876f642ad9929a150f122"}},
    {ChatFamily::kLlama31,
     "llama3.1",
     {"99799a835a31e1d33c4a9c7ee8a0de3923b291a95155ed6dc8efcbd0fe1d0238",
      "0cac23ffd2b33ff7b039e17ee143a080053318146fdc788f1d49ed4745aa8683"}},
};

const KnownTemplate& entry(ChatFamily family) {
  return *std::find_if(std::begin(kKnownTemplates), std::end(kKnownTemplates),
                       [&](const KnownTemplate& known) { return known.family == family; });
}

// A message as templates see it.
struct Turn {
  unsigned role;
  std::string text;
};

std::string_view role_name(unsigned role) {
  switch (role) {
    case KRL_ROLE_SYSTEM:
      return "system";
    case KRL_ROLE_USER:
      return "user";
    default:
      return "assistant";
  }
}

std::vector<Turn> checked_turns(const Messages& messages) {
  if (messages.empty()) invalid_argument("a prompt needs at least one message");
  std::vector<Turn> turns;
  for (const Message message : messages) {
    const unsigned role = message.role();
    if (role != KRL_ROLE_SYSTEM && role != KRL_ROLE_USER && role != KRL_ROLE_ASSISTANT) {
      invalid_argument("a message has the unknown role " + std::to_string(role));
    }
    turns.push_back({role, to_utf8(message.text())});
  }
  return turns;
}

class Parts {
 public:
  Parts& control(std::string_view name) {
    parts_.push_back({true, std::string(name)});
    return *this;
  }

  Parts& text(std::string_view text) {
    if (text.empty()) return *this;
    if (parts_.empty() || parts_.back().control) parts_.push_back({false, ""});
    parts_.back().text += text;
    return *this;
  }

  std::vector<ChatPart> take() { return std::move(parts_); }

 private:
  std::vector<ChatPart> parts_;
};

// True if Python's str.strip() removes this character.
bool is_python_space(char32_t c) {
  constexpr char32_t kSpaces[] = {' ', 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000};
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x1F) || (c >= 0x2000 && c <= 0x200A) ||
         std::find(std::begin(kSpaces), std::end(kSpaces), c) != std::end(kSpaces);
}

// The character that ends at `end` of valid UTF-8, and where it begins.
std::pair<char32_t, std::size_t> character_before(std::string_view text, std::size_t end) {
  std::size_t begin = end - 1;
  while ((static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  const auto lead = static_cast<unsigned char>(text[begin]);
  char32_t c = lead < 0x80 ? lead : lead < 0xE0 ? lead & 0x1Fu : lead & 0x0Fu;
  for (std::size_t i = begin + 1; i < end; ++i) {
    c = c << 6 | (static_cast<unsigned char>(text[i]) & 0x3Fu);
  }
  return {c, begin};
}

// Python's str.strip() of valid UTF-8.
std::string_view stripped(std::string_view text) {
  while (!text.empty()) {
    const auto [c, begin] = character_before(text, text.size());
    if (!is_python_space(c)) break;
    text.remove_suffix(text.size() - begin);
  }
  while (!text.empty()) {
    std::size_t size = 1;
    while (size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) ++size;
    if (!is_python_space(character_before(text, size).first)) break;
    text.remove_prefix(size);
  }
  return text;
}

std::string_view without_leading_newlines(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
}

std::string_view without_trailing_newlines(std::string_view text) {
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

void chatml_message(Parts& parts, unsigned role, std::string_view text) {
  parts.control("<|im_start|>").text(role_name(role)).text("\n").text(text);
  parts.control("<|im_end|>").text("\n");
}

std::vector<ChatPart> render_chatml(const std::vector<Turn>& turns, std::string_view system) {
  Parts parts;
  if (!system.empty() && turns.front().role != KRL_ROLE_SYSTEM) {
    chatml_message(parts, KRL_ROLE_SYSTEM, system);
  }
  for (const Turn& turn : turns) chatml_message(parts, turn.role, turn.text);
  return parts.control("<|im_start|>").text("assistant\n").take();
}

// An answer of Qwen 3: its thought, and its visible text.
struct Thoughts {
  std::string_view reasoning, said;
};

Thoughts split_thoughts(std::string_view text) {
  constexpr std::string_view kOpen = "<think>", kClose = "</think>";
  const std::size_t first_close = text.find(kClose);
  if (first_close == std::string_view::npos) return {"", text};
  std::string_view reasoning = without_trailing_newlines(text.substr(0, first_close));
  const std::size_t open = reasoning.rfind(kOpen);
  if (open != std::string_view::npos) reasoning.remove_prefix(open + kOpen.size());
  const std::string_view said = text.substr(text.rfind(kClose) + kClose.size());
  return {without_leading_newlines(reasoning), without_leading_newlines(said)};
}

// Returns the last question, which later answers may still think about; tools' results do not
// count.
std::size_t last_question(const std::vector<Turn>& turns) {
  for (std::size_t i = turns.size(); i-- > 0;) {
    const std::string_view text = turns[i].text;
    const bool tool = text.starts_with("<tool_response>") && text.ends_with("</tool_response>");
    if (turns[i].role == KRL_ROLE_USER && !tool) return i;
  }
  return turns.size() - 1;
}

std::vector<ChatPart> render_qwen3(const std::vector<Turn>& turns, bool thinking) {
  Parts parts;
  const std::size_t question = last_question(turns);
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const Turn& turn = turns[i];
    if (turn.role != KRL_ROLE_ASSISTANT) {
      chatml_message(parts, turn.role, turn.text);
      continue;
    }
    const Thoughts thoughts = split_thoughts(turn.text);
    const bool last = i + 1 == turns.size();
    if (i > question && (last || !thoughts.reasoning.empty())) {
      const std::string_view reasoning = without_trailing_newlines(thoughts.reasoning);
      chatml_message(parts, turn.role,
                     "<think>\n" + std::string(reasoning) + "\n</think>\n\n" +
                         std::string(without_leading_newlines(thoughts.said)));
    } else {
      chatml_message(parts, turn.role, thoughts.said);
    }
  }
  parts.control("<|im_start|>").text("assistant\n");
  if (!thinking) parts.text("<think>\n\n</think>\n\n");
  return parts.take();
}

void llama_header(Parts& parts, unsigned role) {
  parts.control("<|start_header_id|>").text(role_name(role));
  parts.control("<|end_header_id|>").text("\n\n");
}

std::vector<ChatPart> render_llama(const std::vector<Turn>& turns, const std::string* date) {
  Parts parts;
  parts.control("<|begin_of_text|>");
  std::size_t first = 0;
  if (date != nullptr) {
    llama_header(parts, KRL_ROLE_SYSTEM);
    parts.text("Cutting Knowledge Date: December 2023\nToday Date: ").text(*date).text("\n\n");
    if (turns.front().role == KRL_ROLE_SYSTEM) parts.text(stripped(turns[first++].text));
    parts.control("<|eot_id|>");
  }
  for (; first < turns.size(); ++first) {
    llama_header(parts, turns[first].role);
    parts.text(stripped(turns[first].text)).control("<|eot_id|>");
  }
  llama_header(parts, KRL_ROLE_ASSISTANT);
  return parts.take();
}

std::vector<ChatPart> render_scratch(const std::vector<Turn>& turns) {
  Parts parts;
  parts.control("<bos>");
  bool after_answer = true;
  for (const Turn& turn : turns) {
    if (turn.role == KRL_ROLE_ASSISTANT) {
      parts.control("<answer>").text(turn.text).control("<end>");
    } else {
      parts.text(after_answer ? "" : "\n").text(turn.text);
    }
    after_answer = turn.role == KRL_ROLE_ASSISTANT;
  }
  return parts.control("<answer>").take();
}

bool is_llama(ChatFamily family) {
  return family == ChatFamily::kLlama3 || family == ChatFamily::kLlama31;
}

}  // namespace

std::string_view chat_family_name(ChatFamily family) { return entry(family).name; }

ChatFamily chat_family_by_name(std::string_view name) {
  std::string known;
  for (const KnownTemplate& candidate : kKnownTemplates) {
    if (candidate.name == name) return candidate.family;
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
  }
  invalid_argument("there is no chat template '" + std::string(name) + "'; known are " + known);
}

std::optional<ChatFamily> chat_family_of_template(std::string_view jinja) {
  const std::string digest = chat_template_digest(jinja);
  for (const KnownTemplate& candidate : kKnownTemplates) {
    if (std::find(candidate.digests.begin(), candidate.digests.end(), digest) !=
        candidate.digests.end()) {
      return candidate.family;
    }
  }
  return std::nullopt;
}

// Published copies differ in whether a newline in a literal is written \n or is one, and in
// newlines at the end; these do not change the rendered text.
std::string chat_template_digest(std::string_view jinja) {
  std::string text(without_trailing_newlines(jinja));
  for (std::size_t at = 0; (at = text.find("\\n", at)) != std::string::npos; ++at) {
    text.replace(at, 2, "\n");
  }
  return files::sha256_hex(text);
}

std::vector<ChatPart> render_chat(ChatFamily family, const ChatOptions& options,
                                  const Messages& messages) {
  const std::vector<Turn> turns = checked_turns(messages);
  switch (family) {
    case ChatFamily::kScratch:
      return render_scratch(turns);
    case ChatFamily::kChatml:
    case ChatFamily::kQwen3Instruct:
      return render_chatml(turns, "");
    case ChatFamily::kSmollm2:
      return render_chatml(turns,
                           "You are a helpful AI assistant named SmolLM, trained by Hugging Face");
    case ChatFamily::kQwen2:
      return render_chatml(turns, "You are a helpful assistant.");
    case ChatFamily::kQwen25:
      return render_chatml(turns,
                           "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.");
    case ChatFamily::kQwen3:
      return render_qwen3(turns, options.thinking);
    case ChatFamily::kLlama3:
      return render_llama(turns, nullptr);
    case ChatFamily::kLlama31:
      return render_llama(turns, &options.date);
  }
  invalid_argument("an unknown chat template");
}

std::string_view end_of_answer(ChatFamily family) {
  if (family == ChatFamily::kScratch) return "<end>";
  return is_llama(family) ? "<|eot_id|>" : "<|im_end|>";
}

std::vector<std::string_view> control_tokens(ChatFamily family) {
  if (family == ChatFamily::kScratch) return {"<bos>", "<answer>", "<end>"};
  if (!is_llama(family)) return {"<|im_start|>", "<|im_end|>"};
  return {"<|begin_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"};
}

}  // namespace krl::policies
