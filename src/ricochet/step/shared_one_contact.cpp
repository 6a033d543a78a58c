#include "ricochet/step/shared.h"

namespace ricochet {
#ifndef RICOCHET_ANY_SIZE
RICOCHET_SHARE_ONE_CONTACT(template)
#endif
}  // namespace ricochet
