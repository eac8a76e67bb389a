#include "serve/dialects/responses_answer.hpp"

#include "serve/dialects/environment.hpp"
#include "service/kernels/evaluation_request.hpp"

namespace krl::serve {
namespace {

std::string text_of_message(const Json& message) {
  if (!message.contains("content")) return {};
  if (message["content"].is_string()) return message["content"].get<std::string>();
  std::string text;
  for (const Json& part : message["content"]) text += text_in(part, "text");
  return text;
}

std::string code_of_call(const Json& call) {
  const auto arguments = service::parse_json(text_in(call, "arguments"));
  return arguments ? text_in(*arguments, "code") : "";
}

bool was_cut(const Json& response) {
  return response.contains("incomplete_details") &&
         text_in(response["incomplete_details"], "reason") == "max_output_tokens";
}

// Agents may name a tool after its server: "mcp__kernelrl__evaluate_kernel".
bool is_named(const std::string& name, const std::string& tool) {
  return name == tool || name.ends_with("__" + tool);
}

}  // namespace

Result<ClientAnswer> answer_in(const Json& response, const char* tool) {
  if (!response.is_object() || !response.contains("output") || !response["output"].is_array())
    return invalid("'response' must be an object of the Responses API, with its 'output'");
  std::string message, code;
  for (const Json& item : response["output"]) {
    const std::string type = text_in(item, "type");
    if (type == "message") message = text_of_message(item);
    if (type == "function_call" && is_named(text_in(item, "name"), tool)) code = code_of_call(item);
  }
  ClientAnswer answer = read_answer(message, was_cut(response));
  if (answer.candidate.format == Format::kMissing && !code.empty()) return read_code(code);
  return answer;
}

}  // namespace krl::serve
