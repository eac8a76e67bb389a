// The OpenAPI document of a server's routes. Pure.
#pragma once

#include <string>
#include <vector>

#include "serve/routing/router.hpp"

namespace krl::serve {

// OpenAPI 3.1. Every route is in it; the schemas of requests and evaluations follow from their lists
// of fields.
Json openapi_document(const std::vector<Route>& routes, const std::string& version);

// Parts of operations.
Json operation(const char* summary, Json responses);
Json reference(const char* schema);
Json json_response(const char* description, Json schema);
Json with_body(Json operation, Json schema);
Json with_query(Json operation, const char* name, const char* description, const char* type);

}  // namespace krl::serve
