#include "ricochet/step/run_sized.h"

namespace ricochet::step {

template RICOCHET_RUN_SIZED(model::kDynamic, model::kDynamic);

}  // namespace ricochet::step
