#pragma once
#include "krl/integer_limits.h"
