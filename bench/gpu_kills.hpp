// Evaluations while the processes that make them are killed.
#pragma once

namespace krl::bench {

// Evaluates right and wrong kernels on all cores for `seconds`, while a random process of the
// evaluator's (compiler, runner, checker) gets SIGKILL every so many milliseconds. True if every
// kernel got one evaluation with the right verdict, and no process is left when the backend is
// gone. Prints what it counts; what was evaluated while the processes were killed, apart.
bool survive_kills(int seconds, int milliseconds);

}  // namespace krl::bench
