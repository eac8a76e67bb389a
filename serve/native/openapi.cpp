#include "serve/native/openapi.hpp"

#include <kernelrl/evaluation.hpp>
#include <type_traits>

#include "service/kernels/evaluation_request.hpp"

namespace krl::serve {
namespace {

using service::EvaluationRequest;

template <class Enum>
Json names_of_enum() {
  Json names = Json::array();
  for (const std::string_view name : detail::Names<Enum>::kAll) names.push_back(name);
  return {{"type", "string"}, {"enum", std::move(names)}};
}

Json list_of(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

template <class T>
Json schema_of() {
  if constexpr (std::is_enum_v<T>) {
    return names_of_enum<T>();
  } else if constexpr (std::is_same_v<T, bool>) {
    return {{"type", "boolean"}};
  } else if constexpr (std::is_integral_v<T>) {
    return {{"type", "integer"}};
  } else if constexpr (std::is_same_v<T, double>) {  // NaN is null, infinity a name
    return {{"type", {"number", "null", "string"}}};
  } else if constexpr (std::is_same_v<T, std::string>) {
    return {{"type", "string"}};
  } else if constexpr (std::is_same_v<T, Json>) {  // a task
    return {{"type", {"string", "object"}}};
  } else if constexpr (std::is_same_v<T, EvaluationRequest::Stages>) {
    return list_of({{"type", "string"}});
  } else if constexpr (requires { typename T::value_type; }) {
    return list_of(schema_of<typename T::value_type>());
  } else {
    Json properties;
    T::each_field([&]<class Member>(const char* name, Member T::*, auto) {
      properties[name] = schema_of<Member>();
    });
    return {{"type", "object"}, {"properties", std::move(properties)}};
  }
}

Json object(Json properties, Json required) {
  return {
      {"type", "object"}, {"properties", std::move(properties)}, {"required", std::move(required)}};
}

Json schemas() {
  const Json text = {{"type", "string"}}, number = {{"type", "number"}};
  Json request = schema_of<EvaluationRequest>();
  request["required"] = {"task", "source"};
  request["additionalProperties"] = false;
  Json evaluation = schema_of<Evaluation>();
  evaluation["required"] = {"verdict", "cases"};
  return {{"EvaluationRequest", std::move(request)},
          {"Batch", object({{"requests", list_of(reference("EvaluationRequest"))}}, {"requests"})},
          {"Evaluation", std::move(evaluation)},
          {"Result", object({{"id", text},
                             {"task", text},
                             {"digest", text},
                             {"evaluation", reference("Evaluation")},
                             {"headline", text},
                             {"feedback", text},
                             {"kept", {{"type", "boolean"}}},
                             {"queued_ms", number},
                             {"judged_ms", number}},
                            {"task", "digest", "evaluation", "headline", "feedback", "kept"})},
          {"State", object({{"id", text}, {"state", text}, {"position", {{"type", "integer"}}}},
                           {"id", "state"})},
          {"Task", object({{"id", text},
                           {"title", text},
                           {"tier", {{"type", "integer"}}},
                           {"prompt", text},
                           {"signature", text},
                           {"naive", text}},
                          {"id", "title", "tier"})},
          {"Error", object({{"error", object({{"code", text},
                                              {"message", text},
                                              {"retry_after_s", {{"type", "integer"}}}},
                                             {"code", "message"})}},
                           {"error"})}};
}

Json path_parameters(const std::string& path) {
  Json parameters = Json::array();
  for (std::size_t open = path.find('{'); open != std::string::npos;
       open = path.find('{', open + 1)) {
    parameters.push_back({{"name", path.substr(open + 1, path.find('}', open) - open - 1)},
                          {"in", "path"},
                          {"required", true},
                          {"schema", {{"type", "string"}}}});
  }
  return parameters;
}

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return text;
}

}  // namespace

Json reference(const char* schema) {
  return {{"$ref", std::string("#/components/schemas/") + schema}};
}

Json json_response(const char* description, Json schema) {
  return {{"description", description},
          {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
}

Json operation(const char* summary, Json responses) {
  responses["default"] = json_response("an error, and why", reference("Error"));
  return {{"summary", summary}, {"responses", std::move(responses)}};
}

Json with_body(Json operation, Json schema) {
  operation["requestBody"] = {{"required", true},
                              {"content", {{"application/json", {{"schema", std::move(schema)}}}}}};
  return operation;
}

Json with_query(Json operation, const char* name, const char* description, const char* type) {
  operation["parameters"].push_back({{"name", name},
                                     {"in", "query"},
                                     {"description", description},
                                     {"schema", {{"type", type}}}});
  return operation;
}

Json openapi_document(const std::vector<Route>& routes, const std::string& version) {
  Json paths = Json::object();
  for (const Route& route : routes) {
    Json operation = route.operation;
    for (Json& parameter : path_parameters(route.path))
      operation["parameters"].push_back(std::move(parameter));
    if (!operation.contains("responses"))
      operation["responses"] = {{"200", {{"description", "as its protocol says"}}}};
    if (route.is_open) operation["security"] = Json::array();
    paths[route.path][lower(route.method)] = std::move(operation);
  }
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "kernelrl serve"},
            {"version", version},
            {"description", "Judges GPU kernels: compiles, checks and times them."}}},
          {"security", Json::array({Json{{"token", Json::array()}}, Json::object()})},
          {"paths", std::move(paths)},
          {"components",
           {{"schemas", schemas()},
            {"securitySchemes", {{"token", {{"type", "http"}, {"scheme", "bearer"}}}}}}}};
}

}  // namespace krl::serve
