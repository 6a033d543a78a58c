#include "ricochet/step/run_sized.h"

namespace ricochet::step {

template RICOCHET_RUN_SIZED(3, 1);

}  // namespace ricochet::step
