#include "ricochet/step/run_sized.h"

namespace ricochet::step {

template RICOCHET_RUN_SIZED(2, model::kDynamic);

}  // namespace ricochet::step
