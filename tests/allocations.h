#pragma once

namespace ricochet::testing {

/// Allocations of any kind (malloc, new, aligned) made by the whole program so far.
long long allocations();

}  // namespace ricochet::testing
