#include "ricochet/step/shared.h"

namespace ricochet {
#ifndef RICOCHET_ANY_SIZE
RICOCHET_SHARE_CONTACTS(template)
#endif
}  // namespace ricochet
