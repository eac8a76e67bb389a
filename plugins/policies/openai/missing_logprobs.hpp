// Requests missing log-probabilities one by one: llama.cpp returns none for a token that ends
// inside a character, as tokens of many letters and symbols do.
#pragma once

#include "plugins/policies/openai/asking.hpp"
#include "plugins/policies/openai/sample_check.hpp"

namespace krl::openai {

// Fills in the log-probabilities of the answer's tokens; one exchange each, which samples one token
// after all that come before. Errors as Asking::ask(). Does nothing if the dialect has no way to
// ask.
void fill_missing(Asking& asking, const Dialect& dialect, const Expected& expected, Choice& choice,
                  const Terms& terms, Yield yield);

}  // namespace krl::openai
