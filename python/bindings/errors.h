#pragma once

#include <string>

#include "bindings.h"
#include "ricochet/base/error.h"

namespace ricochet::python {

/// Raises an exception of ricochet.errors: `kind` is the name of its class.
[[noreturn]] void raise(const char* kind, const base::InputError& error);

/// Raises CallableError that names the callable and the time, from the exception that is set, if
/// one is.
[[noreturn]] void raise_callable(const std::string& callable, double t, const std::string& what);

}  // namespace ricochet::python
