#include "ricochet/step/shared.h"

namespace ricochet {
RICOCHET_SHARE_STRUCTURES(template)
}  // namespace ricochet
